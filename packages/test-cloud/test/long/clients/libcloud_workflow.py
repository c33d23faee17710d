"""A workflow with libcloud: nodes, volumes, images and networks of the cloud that the environment variables specify."""

import os
import time
from urllib.parse import urlsplit

from libcloud.compute.providers import get_driver
from libcloud.compute.types import Provider

url = urlsplit(os.environ["OS_AUTH_URL"])
driver = get_driver(Provider.OPENSTACK)(
    os.environ["OS_USERNAME"],
    os.environ["OS_PASSWORD"],
    secure=False,
    ex_force_auth_url=f"{url.scheme}://{url.netloc}/identity/v3/auth/tokens",
    ex_force_auth_version="3.x_password",
    ex_tenant_name=os.environ["OS_PROJECT_NAME"],
    ex_domain_name="Default",
    ex_force_service_region=os.environ["OS_REGION_NAME"],
    ex_force_base_url=None,
    api_version="2.2",
)


def wait_until(condition, is_true):
    for _ in range(100):
        if is_true():
            return
        time.sleep(0.1)
    raise AssertionError(f"did not become true: {condition}")


size = next(s for s in driver.list_sizes() if s.name == "m1.tiny")
image = next(i for i in driver.list_images() if i.name == "cirros")
network = next(n for n in driver.ex_list_networks() if n.name == "private")
assert [s.cidr for s in driver.ex_list_subnets()] == ["10.0.0.0/16", "203.0.113.0/24"]

office = driver.ex_create_network("office")
subnet = driver.ex_create_subnet("desks", office, "192.168.5.0/24")
driver.ex_update_subnet(subnet, name="chairs")
driver.ex_delete_subnet(subnet)
driver.ex_delete_network(office)

group = driver.ex_create_security_group("web", "a group")
rule = driver.ex_create_security_group_rule(group, "tcp", 80, 80, cidr="0.0.0.0/0")
driver.ex_delete_security_group_rule(rule)

node = driver.create_node(name="web", size=size, image=image, networks=[network], ex_metadata={"role": "web"})
wait_until("the node runs", lambda: driver.ex_get_node_details(node.id).state == "running")
assert driver.ex_get_node_details(node.id).private_ips
driver.ex_set_metadata(node, {"stage": "test"})
driver.ex_stop_node(node)
wait_until("the node is stopped", lambda: driver.ex_get_node_details(node.id).state == "stopped")
driver.ex_start_node(node)
wait_until("the node runs again", lambda: driver.ex_get_node_details(node.id).state == "running")
driver.reboot_node(node)
wait_until("the node runs after a reboot", lambda: driver.ex_get_node_details(node.id).state == "running")

volume = driver.create_volume(1, "disk")
wait_until("the volume is available", lambda: driver.ex_get_volume(volume.id).state == "available")
assert driver.attach_volume(node, volume, "/dev/vdb")
wait_until("the volume is in use", lambda: driver.ex_get_volume(volume.id).state == "inuse")
assert driver.detach_volume(driver.ex_get_volume(volume.id))
wait_until("the volume is available again", lambda: driver.ex_get_volume(volume.id).state == "available")
snapshot = driver.create_volume_snapshot(volume, "saved")
wait_until("the snapshot is available", lambda: driver.list_volume_snapshots(volume)[0].state == "available")
assert driver.destroy_volume_snapshot(snapshot)
assert driver.destroy_volume(volume)

copy = driver.create_image(node, "copy")
wait_until("the copy is active", lambda: driver.get_image(copy.id).extra["status"] == "active")
assert driver.ex_update_image(copy.id, [{"op": "replace", "path": "/name", "value": "other"}]).name == "other"
assert driver.delete_image(copy)

pool = driver.ex_list_floating_ip_pools()[0]
address = pool.create_floating_ip()
driver.ex_attach_floating_ip_to_node(node, address)
wait_until("the node has the address", lambda: address.ip_address in driver.ex_get_node_details(node.id).public_ips)
driver.ex_detach_floating_ip_from_node(node, address)
address.delete()

router = driver.ex_create_router("edge")
driver.ex_delete_router(router)
assert driver.ex_get_quota_set(node.extra["tenantId"]).instances.limit == 10
assert driver.destroy_node(node)
wait_until("the node is deleted", lambda: driver.list_nodes() == [])
print("done")
