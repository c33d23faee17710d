import type { Clock } from '@apistrata/compute-engine';
import type { Driver, DriverServices, DriverVerb } from '@apistrata/compute-engine/drivers';
import { consoleOf, openConsole } from './consoles.js';
import { diagnosticsOf } from './diagnostics.js';
import { hostControl } from './host-control.js';
import { answerHost } from './moves/answer-host.js';
import type { HostQuestion } from './moves/questions.js';
import { USUAL_TUNNEL_PORT } from './network/tunnels.js';
import { openHost } from './open-host.js';
import { checkQemuOptions, type QemuOptions } from './options.js';
import { verbs } from './verbs/all-verbs.js';
import { moving } from './verbs/moving.js';
import type { Order } from './verbs/order.js';
import { obstacleTo } from './verbs/password.js';
import { snapshotContent } from './verbs/snapshots.js';

/**
 * A driver whose servers are virtual machines of QEMU on this computer: for `createEngine({ driver: qemuDriver({ ... }) })`.
 * Machines are processes of their own and outlive this one; the next driver of the same directory takes them over.
 *
 * @throws TypeError for unknown options; when the engine opens it, {@link QemuError} with the cure
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
    return {
      name: 'qemu',
      instantly: () => false,
      supports: (verb) => verbs[verb] !== undefined && (services.hosts !== undefined || !(verb in moving)),
      async perform(work, server, signal) {
        signal.throwIfAborted();
        const perform = verbs[work.verb] as ((order: Order<DriverVerb>) => Promise<void>) | undefined;
        if (!perform) throw new Error(`machines of QEMU cannot do this: ${work.verb}`);
        await perform({ host, work, server, signal });
      },
      obstacle: (verb, server) => obstacleTo(host, verb, server),
      canMove: services.hosts !== undefined,
      machines: () => host.machineIds(),
      powerState: (server) => host.machine(server).powerState(),
      onPowerChange: (listener) => host.onPowerChange(listener),
      ...(host.parts.storage !== undefined && { storage: host.parts.storage }),
      snapshotFormat: 'qcow2',
      snapshotContent: (server, imageId) => snapshotContent(host, server, imageId),
      consoleOutput: (server) => host.machine(server).folder.consoleText(),
      diagnostics: (server) => diagnosticsOf(host, server),
      console: async (server, type) => consoleOf(host, server, type),
      openConsole: (server, type) => openConsole(host, server, type),
      moveProgress: async (server) => (await host.moves.get(server.id)?.progress()) ?? null,
      answer: (question, signal) => answerHost(host, question as HostQuestion, signal),
      ...hostControl(host),
      ...(host.kept && { volumes: host.kept }),
      ...(services.hosts &&
        options.networkMode === 'bridge' && { tunnelPort: options.tunnelPort ?? USUAL_TUNNEL_PORT }),
      close: async () => host.leave(),
    };
  };
}
