#!/bin/busybox sh
# The init script of a guest whose files are those of the computer that runs it. Changes to them stay in memory. It runs
# one command, writes its output and status to the serial line, and powers off.
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /computer /changes /merged
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo -onlcr
echo 1 >/proc/sys/kernel/printk
while read -r module; do insmod "/modules/$module.ko"; done </modules/order

mount -t virtiofs -o ro computer /computer
mount -t tmpfs changes /changes
mkdir /changes/upper /changes/work
mount -t overlay -o lowerdir=/computer,upperdir=/changes/upper,workdir=/changes/work overlay /merged
mount -t proc proc /merged/proc
mount -t sysfs sysfs /merged/sys
mount -t devtmpfs dev /merged/dev
for folder in run dev/shm; do mkdir -p /merged/$folder && mount -t tmpfs memory /merged/$folder; done
if [ -d /merged/etc/lvm ]; then
  # There is no udev, so LVM creates the device files itself.
  cat >/merged/etc/lvm/lvmlocal.conf <<END
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
devices { obtain_device_list_from_udev = 0 external_device_info_source = "none" }
END
fi
ip link set lo up
cp /command.sh /merged/run/command.sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LVM_SUPPRESS_FD_WARNINGS=1
# With `chroot`, programs that enter a mount namespace would see the files of the ramdisk.
exec /bin/switch_root /merged /bin/sh -c '/bin/sh /run/command.sh; echo "STATUS $?"; busybox poweroff -f'
