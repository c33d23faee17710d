#!/bin/busybox sh
# Takes on what the DHCP server offers.
case "$1" in
  bound | renew)
    ip addr flush dev "$interface"
    ip addr add "$ip/$mask" dev "$interface"
    [ -n "$router" ] && ip route replace default via "${router%% *}"
    ;;
esac
