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
ip link set lo up
cp /command.sh /merged/run/command.sh
# With `chroot`, programs that enter a mount namespace would see the files of the ramdisk.
exec switch_root /merged /bin/sh -c '/bin/sh /run/command.sh; echo "STATUS $?"; busybox poweroff -f'
