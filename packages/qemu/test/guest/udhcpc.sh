#!/bin/busybox sh
# Applies the offer of the DHCP server.
case "$1" in
  bound | renew)
    ip addr flush dev "$interface"
    ip addr add "$ip/$mask" dev "$interface"
    [ -n "$router" ] && ip route replace default via "${router%% *}"
    ;;
esac
