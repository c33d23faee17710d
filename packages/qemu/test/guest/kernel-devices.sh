# Uses WireGuard, vhost-net, VLANs and thin pools in a virtual machine with the distribution's kernel. Variables: NODE,
# END, CLOUD (programs), OPTIONS (of the cloud), CREATE_NETWORK, CREATE_SUBNET, CREATE_SERVER, IDLE,
# LIST_SERVERS (requests).
busybox depmod
for module in wireguard kvm-amd vhost_net tun veth vxlan br_netfilter nf_conntrack_bridge nft_ct nft_chain_nat nft_masq \
  nft_fib_inet nft_reject_inet nft_log nft_meta_bridge nft_reject_bridge nft_limit nft_quota nft_redir nft_nat 8021q \
  dm_thin_pool loop; do
  busybox modprobe $module
done
chmod 666 /dev/kvm /dev/vhost-net /dev/net/tun

mkdir -p /run/one /run/two
ip netns add one
ip netns add two
ip link add wire netns one type veth peer name wire netns two
ip -n one address add 192.0.2.1/24 dev wire
ip -n two address add 192.0.2.2/24 dev wire
ip -n one link set wire up
ip -n two link set wire up
end() { name=$1; shift; ip netns exec $name $NODE $END /run/$name 51820 "$@"; }
end one >/run/one.json
end two >/run/two.json
end one /run/two.json 192.0.2.2
end two /run/one.json 192.0.2.1
address=$(sed 's/.*"address":"\([^"]*\)".*/\1/' /run/two.json)
ip netns exec one busybox ping -c 3 -W 5 $address
echo "TRANSFER $(ip netns exec one wg show all transfer)"
echo "DEVICE $(ip -n one -details -oneline link show type wireguard)"

# The LAN of this computer, and another computer in its VLAN 7.
ip netns add other
ip link add br0 type bridge
ip link add lan0 type veth peer name lan1 netns other
ip link set lan0 master br0 up
ip link set br0 up
ip -n other link set lan1 up
ip -n other link add link lan1 name lan1.7 type vlan id 7
ip -n other address add 10.7.0.250/24 dev lan1.7
ip -n other link set lan1.7 up

truncate -s 1600M /run/pool
lvm vgcreate pool $(losetup --find --show /run/pool)
lvm lvcreate --type thin-pool --size 1400m --name volumes pool

mkdir -m 755 /run/cloud
mkfifo /run/requests
$NODE $CLOUD "$OPTIONS" </run/requests >/run/responses &
cloud=$!
exec 3>/run/requests
sent=0
# Sends a request to the cloud and waits for its response. `@network@` stands for the id of the network.
request() {
  echo "$1" | sed "s/@network@/$network/" >&3
  sent=$((sent + 1))
  until [ "$(wc -l </run/responses)" -gt $sent ]; do kill -0 $cloud && sleep 1 || exit 1; done
}
request "$CREATE_NETWORK"
network=$(tail -n 1 /run/responses | sed 's/.*[{,]"id":"\([^"]*\)".*/\1/')
request "$CREATE_SUBNET"
request "$CREATE_SERVER"
request "$IDLE"
request "$LIST_SERVERS"
machines=/run/cloud/qemu/machines
# If the server has failed, it has no machine, and its record contains the reason.
until grep -q 'GUEST ready' $machines/*/console.log || ! ls $machines/*/console.log >/dev/null; do sleep 2; done
grep -hE '^(ADDRESS|DISK|BOOTS)' $machines/*/console.log
echo "VOLUME $(lvm lvs --noheadings --select pool_lv=volumes -o lv_name,data_percent pool)"
cat /proc/[0-9]*/comm | grep '^vhost-'
guest=$(sed -n 's/^ADDRESS eth0 [^ ]* \([0-9.]*\).*/\1/p' $machines/*/console.log)
echo "VLAN $(ip netns exec other busybox ping -c 3 -W 5 $guest | grep received)"
tail -n 1 /run/responses
exec 3>&-
wait $cloud
