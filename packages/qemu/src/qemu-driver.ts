import type { Clock } from '@apistrata/compute-engine';
import type { Driver, DriverServices, DriverVerb } from '@apistrata/compute-engine/drivers';
import { consoleOf, openConsole } from './consoles.js';
import { diagnosticsOf } from './diagnostics.js';
import { createHostControl } from './host-control.js';
import { detectHostCpu } from './host-cpu.js';
import { createHostReport } from './host-report.js';
import { describeMissingTraits, detectHostTraits } from './host-traits.js';
import { toFullDiskError } from './machine/full-disks.js';
import { hasHostRebooted } from './machine/host-boot.js';
import { findMoveObstacle } from './moves/move-obstacle.js';
import { serveHostRequest } from './moves/serve-host-request.js';
import type { TransferRequest } from './moves/transfer-request.js';
import { DEFAULT_TUNNEL_PORT } from './network/tunnels.js';
import { openHost } from './open-host.js';
import { operations } from './operations/all-operations.js';
import { moveOperations } from './operations/moving.js';
import type { OperationRequest } from './operations/operation-request.js';
import { findObstacle } from './operations/password.js';
import { streamSnapshot } from './operations/snapshots.js';
import { checkQemuOptions, type QemuOptions } from './options.js';
import { findSwtpm } from './tpm/swtpm.js';

/**
 * Creates a driver that runs servers as QEMU virtual machines on this computer, for `createEngine()`'s option `driver`.
 * Machines are separate processes that outlive this one. The next driver that uses the same directory takes them over.
 *
 * @throws TypeError if an option is unknown or invalid. `createEngine()` rejects with a {@link QemuError} if virtual
 * machines cannot run on this computer; the message states the fix.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { qemuDriver } from '@apistrata/qemu';
 *
 * const engine = await createEngine({ driver: qemuDriver({ directory: '/var/lib/machines' }) });
 * ```
 */
export function qemuDriver(options: QemuOptions): (clock: Clock, services: DriverServices) => Promise<Driver> {
  checkQemuOptions('qemuDriver()', options);
  return async (_clock, services) => {
    const host = await openHost(options, services);
    const { guest } = host.parts.cpus;
    const { wireguard } = host.networks;
    const traits = await detectHostTraits(guest.visible ?? {}, { swtpm: await findSwtpm(host.parts.runAs) });
    for (const line of describeMissingTraits(traits)) host.parts.log(line);
    return {
      name: 'qemu',
      isSynchronous: () => false,
      supports: (verb) => operations[verb] !== undefined && (services.hosts !== undefined || !(verb in moveOperations)),
      async perform(work, server, signal) {
        signal.throwIfAborted();
        const perform = operations[work.verb] as ((request: OperationRequest<DriverVerb>) => Promise<void>) | undefined;
        if (!perform) throw new Error(`unsupported by QEMU machines: ${work.verb}`);
        await perform({ host, work, server, signal }).catch((error) => {
          throw toFullDiskError(error);
        });
      },
      obstacle: (verb, server, destHost) =>
        verb === 'live_migration_prepare' && destHost !== undefined
          ? findMoveObstacle(host, server, destHost)
          : findObstacle(host, verb, server),
      offer: {
        traits,
        cpuInfo: await detectHostCpu(guest.visible ?? {}),
      },
      canMove: services.hosts !== undefined,
      machines: () => host.machineIds(),
      fence: (action, withinMs) => host.guard.fence(action, withinMs),
      guard: host.guard,
      powerState: (server) => host.machine(server).powerState(),
      hasStoppedWithHost: (server) => hasHostRebooted(host.machine(server).folder),
      onPowerChange: (listener) => host.onPowerChange(listener),
      hostReport: () => createHostReport(host),
      onHostChange: (listener) => host.networks.onChange(listener),
      ...(host.parts.storage !== undefined && { storage: host.parts.storage }),
      snapshotFormat: 'qcow2',
      snapshotContent: (server, imageId) => streamSnapshot(host, server, imageId),
      consoleOutput: (server) => host.machine(server).folder.readConsole(),
      diagnostics: (server) => diagnosticsOf(host, server),
      console: async (server, type) => consoleOf(host, server, type),
      openConsole: (server, type) => openConsole(host, server, type),
      moveProgress: async (server) => (await host.moves.get(server.id)?.progress()) ?? null,
      handleHostRequest: (request, signal, from) => serveHostRequest(host, request as TransferRequest, signal, from),
      ...createHostControl(host),
      ...(host.localVolumes && { volumes: host.localVolumes }),
      ...(services.hosts &&
        options.networkMode === 'bridge' && { tunnelPort: options.tunnelPort ?? DEFAULT_TUNNEL_PORT }),
      ...(wireguard && { wireguard: { publicKey: wireguard.publicKey, port: wireguard.port } }),
      close: async () => host.close(),
    };
  };
}
