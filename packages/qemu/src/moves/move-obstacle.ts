import type { Server } from '@apistrata/compute-engine';
import type { UnsupportedReason } from '@apistrata/compute-engine/drivers';
import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { Host } from '../host.js';
import { readCpu } from '../machine/machine-cpu.js';
import { createTransferClient } from './transfer-requests.js';

/** The timeout for the destination's response. It is short, because an API request may be waiting. */
const CHECK_TIMEOUT_MS = 8_000;

/** Returns why a guest cannot continue on this host with its current CPU; null if it can. */
export function findCpuObstacle({ parts }: Host, cpu: GuestCpu): Promise<string | null> {
  return parts.cpus.findObstacle(cpu, parts.services.hosts?.self ?? '');
}

/** Returns why a guest on this host cannot be live-migrated to the destination host; null if no reason is known. */
export async function findMoveObstacle(
  host: Host,
  server: Server,
  destHost: string,
): Promise<UnsupportedReason | null> {
  const { folder } = host.machine(server);
  const cpu = await readCpu(folder);
  if (!cpu) return null;
  const signal = AbortSignal.any([host.closing, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  try {
    const request = { kind: 'check cpu', serverId: server.id, cpu } as const;
    const message = await createTransferClient(destHost, host, signal).value<string | null>(request);
    return message === null ? null : { code: 'CONFLICT', message };
  } catch (error) {
    // If the host is unavailable, the migration itself fails. Hosts with an earlier version do not implement this
    // check, and provide only `host-passthrough` CPUs.
    if (cpu.mode === 'host-passthrough' || (error as { code?: string }).code === 'HOST_UNREACHABLE') return null;
    const reason = (error as Error).message;
    return {
      code: 'CONFLICT',
      message: `Host ${destHost} cannot check whether it provides the guest's CPU: ${reason}`,
    };
  }
}
