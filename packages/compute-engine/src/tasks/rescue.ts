import { claimDestination } from '../migrations/destination.js';
import { followServer } from '../migrations/follow-server.js';
import type { ServerPatch } from '../model/index.js';
import { keepClaim } from '../scheduler/server-claims.js';
import type { Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What a rescue asks of its job. */
export interface RescueArguments {
  readonly imageId: string;
  readonly adminPassword: string;
  /** The server is rescued there instead of where it was. */
  readonly host?: string;
}

async function moveTo(run: TaskRun, host: string): Promise<void> {
  const { core } = run;
  if (run.server.host !== host) {
    const map = await core.infrastructure.hosts();
    await run.update({}, async (tx, server): Promise<ServerPatch> => {
      const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host });
      await keepClaim(tx, server, undefined);
      return { claims: [destination.claim], host: destination.host, node: destination.node };
    });
  }
  await followServer(run);
}

/** Boots a server from another image, its own disk beside it. */
export const rescueTask: Task = {
  action: 'rescue',
  run: async (run) => {
    const { imageId, adminPassword, host } = run.arguments as RescueArguments;
    if (host !== undefined) await run.step('conductor_rescue_server', () => moveTo(run, host));
    await run.perform({ verb: 'rescue', imageId, adminPassword }, 'rescuing', 'compute_rescue_instance');
    await run.finish({ vmState: 'rescued', powerState: 1, launchedAt: run.core.clock.now() });
  },
};
