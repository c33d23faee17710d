import { keepOnlyClaim } from '../../scheduler/server-claims.js';
import { keepVolumesReserved } from '../../servers/volumes/server-volumes.js';
import type { ServerRun } from '../runner/server-run.js';

/** Removes a shelved server from its host; the server keeps its volumes and ports. */
export async function offload(run: ServerRun): Promise<void> {
  run.enter('shelve_offload');
  await run.perform({ verb: 'shelve_offload' }, 'shelving_offloading', 'compute_shelve_offload_instance');
  if (run.server.interfaces.length > 0)
    await run.core.catalogs.networks.movePorts(run.context.caller, run.server.id, '');
  const blockDevices = await keepVolumesReserved(run, run.job.id);
  await run.finish(
    { vmState: 'shelved_offloaded', powerState: 4, host: null, node: null, blockDevices },
    (tx, server) => keepOnlyClaim(tx, server, undefined),
  );
}
