import type { NetworkBackend } from './user-network.js';

/**
 * Returns the `netdev_add` arguments of a TAP device, which QEMU opens itself as the user that owns it, once for each queue.
 *
 * @param vhost whether the kernel forwards packets between the guest and the device; if so, QEMU also opens `/dev/vhost-net`
 */
export function tapBackend(ifname: string, queues: number, vhost: boolean): NetworkBackend {
  return {
    type: 'tap',
    ifname,
    script: 'no',
    downscript: 'no',
    ...(queues > 1 && { queues }),
    ...(vhost && { vhost }),
  };
}
