# A workflow with fog: servers, volumes, images and networks of the cloud that the environment variables specify.
require 'fog/openstack'

options = {
  openstack_auth_url: ENV.fetch('OS_AUTH_URL'),
  openstack_username: ENV.fetch('OS_USERNAME'),
  openstack_api_key: ENV.fetch('OS_PASSWORD'),
  openstack_project_name: ENV.fetch('OS_PROJECT_NAME'),
  openstack_domain_id: 'default',
  openstack_region: ENV.fetch('OS_REGION_NAME'),
}

def check(what, holds)
  raise "#{what} does not hold" unless holds
end

def wait_until(what)
  100.times do
    return if yield
    sleep 0.1
  end
  raise "#{what} did not happen"
end

compute = Fog::OpenStack::Compute.new(**options)
network = Fog::OpenStack::Network.new(**options)
# The library finds the second version of the volume API by its name; the third version has the same requests and
# responses.
volume = Fog::OpenStack::Volume::V2.new(**options, openstack_service_type: ['volumev3'])
image = Fog::OpenStack::Image.new(**options)
identity = Fog::OpenStack::Identity.new(**options)

check 'the project', identity.projects.any? { |project| project.name == 'demo' }
check 'the users', identity.users.any? { |user| user.name == 'admin' }
check 'the roles', identity.roles.any? { |role| role.name == 'member' }
check 'the endpoints', identity.endpoints.all.length >= 21

office = network.networks.create(name: 'office')
desks = network.subnets.create(name: 'desks', network_id: office.id, cidr: '192.168.6.0/24', ip_version: 4)
port = network.ports.create(name: 'front', network_id: office.id)
check 'the port', port.fixed_ips.first['ip_address'].start_with?('192.168.6.')
port.destroy
group = network.security_groups.create(name: 'web', description: 'a group')
network.security_group_rules.create(security_group_id: group.id, direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80)
check 'the rule', network.security_group_rules.all(security_group_id: group.id, direction: 'ingress').length == 1
group.destroy
outside = network.networks.find { |one| one.name == 'public' }
router = network.routers.create(name: 'edge', external_gateway_info: outside.id)
network.add_router_interface(router.id, desks.id)
network.remove_router_interface(router.id, desks.id)
router.destroy
desks.destroy
office.destroy

flavor = compute.flavors.find { |one| one.name == 'm1.tiny' }
cirros = image.images.find { |one| one.name == 'cirros' }
inside = network.networks.find { |one| one.name == 'private' }
server = compute.servers.create(name: 'web', flavor_ref: flavor.id, image_ref: cirros.id, nics: [{ net_id: inside.id }])
wait_until('the server runs') { server.reload.ready? }
server.reboot
wait_until('the server runs again') { server.reload.ready? }
server.stop
wait_until('the server is stopped') { server.reload.state == 'SHUTOFF' }

disk = volume.volumes.create(name: 'disk', description: '', size: 1)
wait_until('the volume is there') { disk.reload.status == 'available' }
compute.attach_volume(disk.id, server.id, '/dev/vdb')
wait_until('the volume is in use') { disk.reload.status == 'in-use' }
compute.detach_volume(server.id, disk.id)
wait_until('the volume is free') { disk.reload.status == 'available' }
snapshot = volume.snapshots.create(name: 'kept', description: '', volume_id: disk.id)
check 'the snapshot', volume.snapshots.any? { |one| one.name == 'kept' }
snapshot.destroy
disk.destroy

created = image.images.create(name: 'mine', disk_format: 'raw', container_format: 'bare')
created.upload_data(StringIO.new('bytes'))
check 'the image', created.reload.status == 'active'
created.destroy

server.destroy
wait_until('the server is deleted') { compute.servers.all.empty? }
puts 'done'
