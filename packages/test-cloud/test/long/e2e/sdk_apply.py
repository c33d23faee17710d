"""Creates resources with the unmodified SDK, reads them back, and reports differences from the requested values.

The steps are those of declarative tools: apply, plan again (no changes), destroy (no resources remain). The version is
the first argument.
Prints JSON: {"different": [...], "remaining": [...]}.
"""

import base64
import json
import sys
import warnings

warnings.simplefilter("ignore")

import openstack  # noqa: E402

version = sys.argv[1]
cloud = openstack.connect(compute_default_microversion=version)
different = []


def minor(text):
    return int(text.split(".")[1])


def compare(kind, requested, found):
    """Records requested fields that a resource does not have."""
    for key, value in requested.items():
        actual = getattr(found, key)
        if actual != value:
            different.append([kind, key, value, actual])


network_args = {"name": "office", "description": "first floor", "is_admin_state_up": True}
network = cloud.network.create_network(**network_args)
subnet_args = {
    "name": "office-net",
    "cidr": "192.168.9.0/24",
    "ip_version": 4,
    "gateway_ip": "192.168.9.254",
    "dns_nameservers": ["192.0.2.53"],
    "allocation_pools": [{"start": "192.168.9.10", "end": "192.168.9.99"}],
    "is_dhcp_enabled": False,
}
subnet = cloud.network.create_subnet(network_id=network.id, **subnet_args)
group_args = {"name": "web", "description": "incoming traffic"}
group = cloud.network.create_security_group(**group_args)
rule_args = {
    "direction": "ingress",
    "ether_type": "IPv4",
    "protocol": "tcp",
    "port_range_min": 443,
    "port_range_max": 443,
    "remote_ip_prefix": "198.51.100.0/24",
}
rule = cloud.network.create_security_group_rule(security_group_id=group.id, **rule_args)
port_args = {
    "name": "front",
    "fixed_ips": [{"subnet_id": subnet.id, "ip_address": "192.168.9.42"}],
    "security_group_ids": [group.id],
    "mac_address": "fa:16:3e:00:00:42",
}
port = cloud.network.create_port(network_id=network.id, **port_args)
router_args = {"name": "edge", "description": "external gateway"}
public = cloud.network.find_network("public")
router = cloud.network.create_router(external_gateway_info={"network_id": public.id}, **router_args)
cloud.network.add_interface_to_router(router, subnet_id=subnet.id)

image_args = {"name": "mine", "disk_format": "qcow2", "container_format": "bare", "min_disk": 1, "visibility": "private"}
content = b"content of the image" * 100
image = cloud.image.create_image(data=content, validate_checksum=True, hw_disk_bus="virtio", tags=["blue"], **image_args)
volume_args = {"name": "disk", "size": 3, "description": "data", "metadata": {"kept": "long"}}
volume = cloud.block_storage.create_volume(**volume_args)
cloud.block_storage.wait_for_status(volume, "available", interval=0.1)

key_args = {}
if minor(version) >= 92:
    key_args["public_key"] = open(sys.argv[2]).read().strip()
keypair = cloud.compute.create_keypair(name="laptop", **key_args)
server_group_args = {"policies": ["anti-affinity"]} if minor(version) < 64 else {"policy": "anti-affinity"}
server_group = cloud.compute.create_server_group(name="spread", **server_group_args)
flavor = cloud.compute.find_flavor("m1.tiny")
server_args = {"name": "web-1", "metadata": {"role": "web", "stage": "test"}, "key_name": "laptop"}
if minor(version) >= 19:
    server_args["description"] = "serves"
extra = {"tags": ["blue", "green"]} if minor(version) >= 52 else {}
server = cloud.compute.create_server(
    flavor_id=flavor.id,
    image_id=image.id,
    networks=[{"port": port.id}],
    user_data=base64.b64encode(b"#!/bin/sh\n").decode(),
    **server_args,
    **extra,
)
server = cloud.compute.wait_for_server(server, interval=0.1, wait=30)
cloud.compute.create_volume_attachment(server, volume_id=volume.id)
cloud.block_storage.wait_for_status(cloud.block_storage.get_volume(volume.id), "in-use", interval=0.1)
floating = cloud.network.create_ip(floating_network_id=public.id, port_id=port.id, description="entry")


def read_back():
    compare("network", network_args, cloud.network.get_network(network.id))
    compare("subnet", subnet_args, cloud.network.get_subnet(subnet.id))
    compare("group", group_args, cloud.network.get_security_group(group.id))
    compare("rule", rule_args, cloud.network.get_security_group_rule(rule.id))
    compare("port", port_args, cloud.network.get_port(port.id))
    compare("router", router_args, cloud.network.get_router(router.id))
    compare("image", {**image_args, "hw_disk_bus": "virtio", "tags": ["blue"]}, cloud.image.get_image(image.id))
    compare("content", {"size": len(content), "status": "active"}, cloud.image.get_image(image.id))
    compare("volume", volume_args, cloud.block_storage.get_volume(volume.id))
    found = cloud.compute.get_server(server.id)
    compare("server", {**server_args, "status": "ACTIVE"}, found)
    if minor(version) >= 52:
        compare("server", {"tags": ["blue", "green"]}, found)
    addresses = {(a["addr"], a["OS-EXT-IPS:type"]) for a in found.addresses["office"]}
    if addresses != {("192.168.9.42", "fixed"), (floating.floating_ip_address, "floating")}:
        different.append(["server", "addresses", None, sorted(addresses)])
    attached = [a.volume_id for a in cloud.compute.volume_attachments(found)]
    if attached != [volume.id]:
        different.append(["server", "volumes", [volume.id], attached])
    compare("floating", {"port_id": port.id, "fixed_ip_address": "192.168.9.42", "description": "entry"}, cloud.network.get_ip(floating.id))
    compare("keypair", {"name": "laptop", "public_key": keypair.public_key}, cloud.compute.get_keypair("laptop"))
    if cloud.image.download_image(image.id).content != content:
        different.append(["image", "content", None, None])


read_back()
# A request for an existing resource changes nothing.
cloud.network.update_network(network, **network_args)
cloud.compute.set_server_metadata(server, **server_args["metadata"])
read_back()

for attachment in list(cloud.compute.volume_attachments(server)):
    cloud.compute.delete_volume_attachment(attachment.volume_id, server)
cloud.block_storage.wait_for_status(cloud.block_storage.get_volume(volume.id), "available", interval=0.1)
cloud.network.delete_ip(floating)
cloud.compute.delete_server(server)
cloud.compute.wait_for_delete(server, interval=0.1, wait=30)
compare("port", {"device_id": "", "device_owner": ""}, cloud.network.get_port(port.id))
cloud.network.delete_port(port)
cloud.network.remove_interface_from_router(router, subnet_id=subnet.id)
cloud.network.delete_router(router)
cloud.network.delete_network(network)
cloud.network.delete_security_group(group)
cloud.image.delete_image(image)
cloud.block_storage.delete_volume(volume)
cloud.compute.delete_keypair("laptop")
cloud.compute.delete_server_group(server_group)

remaining = [
    *[s.name for s in cloud.compute.servers()],
    *[n.name for n in cloud.network.networks() if n.name not in ("private", "public")],
    *[p.id for p in cloud.network.ports()],
    *[r.name for r in cloud.network.routers()],
    *[i.name for i in cloud.network.ips()],
    *[g.name for g in cloud.network.security_groups() if g.name != "default"],
    *[i.name for i in cloud.image.images() if i.name != "cirros"],
    *[v.name for v in cloud.block_storage.volumes()],
    *[s.name for s in cloud.block_storage.snapshots()],
    *[k.name for k in cloud.compute.keypairs()],
    *[g.name for g in cloud.compute.server_groups()],
]
print(json.dumps({"different": different, "remaining": remaining}))
