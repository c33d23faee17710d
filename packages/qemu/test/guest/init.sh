#!/bin/busybox sh
# The init script of the test guest: it reports its configuration on the serial line, counts, handles the power button,
# and runs the commands sent on that line. A line `mark begins` precedes the output of each command, `mark:status` ends
# it.
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /mnt/disk /mnt/config
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo -onlcr
echo 1 >/proc/sys/kernel/printk
while read -r module; do insmod "/modules/$module.ko"; done </modules/order

echo "GUEST begins"
echo "CPUS $(nproc) MEMORY $(awk '/MemTotal/ { print $2 }' /proc/meminfo)"

if ! grep -q deaf /proc/cmdline; then
  for event in /dev/input/event*; do
    grep -q 'Power Button' "/sys/class/input/${event##*/}/device/name" || continue
    (dd if="$event" bs=24 count=1 2>/dev/null | grep -q . && sync && poweroff -f) &
  done
fi

use_disk() { mount -t ext4 "$1" /mnt/disk 2>/dev/null; }
if [ -b /dev/vda ]; then
  echo "DISK $(cat /sys/block/vda/size)"
  # The whole disk, or the partition of a disk with a boot loader.
  disk=/dev/vda
  [ ! -b /dev/vda1 ] || disk=/dev/vda1
  use_disk $disk || { [ $disk = /dev/vda ] && mke2fs $disk >/dev/null 2>&1 && use_disk $disk; }
  echo boot >>/mnt/disk/boots
  sync
  echo "BOOTS $(wc -l </mnt/disk/boots)"
fi

if [ -b /dev/sda ] && mount -t vfat -o ro /dev/sda /mnt/config; then
  echo "CONFIG $(cat /mnt/config/openstack/latest/meta_data.json)"
fi

for path in /sys/class/net/eth*; do
  [ -e "$path" ] || continue
  name=${path##*/}
  ip link set "$name" up
  udhcpc -i "$name" -n -q -t 5 -T 1 -s /udhcpc.sh >/dev/null 2>&1
  echo "ADDRESS $name $(cat "$path/address") $(ip -4 -o addr show dev "$name" | awk '{ print $4 }')"
done

if [ -x /usr/sbin/dropbear ]; then
  mkdir -p /etc/dropbear /home/.ssh /run
  echo 'root:x:0:0:root:/home:/bin/sh' >/etc/passwd
  sed -n 's/.*"public_keys": *{"[^"]*": *"\([^"\\]*\).*/\1/p' /mnt/config/openstack/latest/meta_data.json >/home/.ssh/authorized_keys
  # Host keys are created for the first connection; passwords are disabled.
  /usr/sbin/dropbear -R -s
fi

channel=$(grep -ls org.qemu.guest_agent.0 /sys/class/virtio-ports/*/name)
if [ -n "$channel" ]; then
  channel=/dev/$(basename "${channel%/name}")
  if [ -x /usr/sbin/qemu-ga ]; then
    mkdir -p /etc /run
    /usr/sbin/qemu-ga --method=virtio-serial --path="$channel" --statedir=/run --pidfile=/run/qemu-ga.pid >/qemu-ga.log 2>&1 &
  else
    /agent.sh "$channel" &
  fi
fi

(n=0; while :; do n=$((n + 1)); echo "COUNT $n"; sleep 1; done) &

echo "GUEST ready"
while read -r mark command; do
  echo "$mark begins"
  eval "$command" </dev/null
  echo "$mark:$?"
done
# The line was closed: continue, because the kernel panics if init exits.
while :; do sleep 3600; done
