import { existsSync } from 'node:fs';
import type { Acceleration } from '../programs/acceleration.js';
import { type RunAs, runProgram } from '../programs/run-program.js';

const VHOST_NET = '/dev/vhost-net';
const PROBE_TIMEOUT_MS = 10_000;

export interface VhostOptions {
  /** Whether the administrator allows vhost-net. */
  readonly enabled: boolean;
  readonly acceleration: Acceleration;
  readonly runAs: RunAs | undefined;
  /** Default: `/dev/vhost-net`. */
  readonly device?: string;
}

/** Opens a device for reading and writing as the user that runs QEMU. This also loads the kernel module. */
async function openDevice(device: string, runAs: RunAs | undefined): Promise<void> {
  const args = [`if=${device}`, `of=${device}`, 'count=0', 'conv=notrunc,nocreat', 'status=none'];
  await runProgram('dd', args, { runAs, timeoutMs: PROBE_TIMEOUT_MS });
}

/**
 * Checks whether machines can use vhost-net, the kernel's implementation of virtio network devices, which has no
 * advantage without KVM. Machines need no additional privileges, because QEMU opens the device as its own user.
 *
 * @returns the reason why machines cannot use vhost-net; null if they can
 */
export async function findVhostObstacle({
  enabled,
  acceleration,
  runAs,
  device = VHOST_NET,
}: VhostOptions): Promise<string | null> {
  if (!enabled) return 'as configured';
  if (acceleration !== 'kvm') return 'machines run without KVM';
  if (!existsSync(device)) return `this computer has no ${device}`;
  return openDevice(device, runAs).then(
    () => null,
    ({ message }: Error) => `user ${runAs?.uid ?? process.getuid?.()} cannot open ${device}: ${message}`,
  );
}

/** Returns true if machines can use vhost-net. Logs the result, and the reason if they cannot. */
export async function canUseVhost(options: VhostOptions, log: (line: string) => void): Promise<boolean> {
  const obstacle = await findVhostObstacle(options);
  log(`machine interfaces ${obstacle === null ? 'use vhost-net' : `do not use vhost-net: ${obstacle}`}`);
  return obstacle === null;
}
