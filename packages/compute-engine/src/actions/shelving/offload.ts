import { keepOnlyClaim } from '../../scheduler/server-claims.js';
import type { ServerRun } from '../runner/server-run.js';
import { reserveForOffload } from './reserve-volumes.js';

/** Removes a shelved server from its host; the server keeps its volumes and ports. */
export async function offload(run: ServerRun): Promise<void> {
  run.enter('shelve_offload');
  await run.perform({ verb: 'shelve_offload' }, 'shelving_offloading', 'compute_shelve_offload_instance');
  if (run.server.interfaces.length > 0)
    await run.core.catalogs.networks.movePorts(run.context.caller, run.server.id, '');
  await reserveForOffload(run);
  await run.finish({ vmState: 'shelved_offloaded', powerState: 4, host: null, node: null }, (tx, server) =>
    keepOnlyClaim(tx, server, undefined),
  );
}
