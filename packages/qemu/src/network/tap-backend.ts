import type { NetworkBackend } from './user-network.js';

/**
 * Returns the `netdev_add` arguments for a TAP device. QEMU runs as the device's owner and opens it once per queue.
 *
 * @param vhost whether QEMU opens `/dev/vhost-net`, which lets the kernel forward packets between guest and device
 */
export function createTapBackend(ifname: string, queues: number, vhost: boolean): NetworkBackend {
  return {
    type: 'tap',
    ifname,
    script: 'no',
    downscript: 'no',
    ...(queues > 1 && { queues }),
    ...(vhost && { vhost }),
  };
}
