import { overview } from '@apistrata/compute-engine/testing';
import type { CloudAppOptions } from '../front/cloud-app.js';

const SHOWN_SERVERS = 50;
const SHOWN_REQUESTS = 50;

/** What the page shows, read at one moment. */
export async function pageState({
  world,
  journal,
  clock,
  unserved,
}: Pick<CloudAppOptions, 'world' | 'journal' | 'clock' | 'unserved'>) {
  const { counts, servers, hosts } = await overview(world().engine, { servers: SHOWN_SERVERS });
  return {
    now: new Date(clock.now()).toISOString(),
    frozen: clock.frozen,
    counts,
    servers: servers.map(({ id, name, vmState, taskState, host, flavor, interfaces }) => ({
      id,
      name,
      state: vmState,
      task: taskState,
      host,
      flavor: flavor.name,
      addresses: interfaces.flatMap(({ fixedIps }) => fixedIps.map(({ address }) => address)),
    })),
    hosts,
    requests: journal
      .latest(SHOWN_REQUESTS)
      .map(({ number, at, service, method, url, status, version, requestId, durationMs }) => ({
        number,
        at: new Date(at).toISOString().slice(11, 23),
        service,
        method,
        url,
        status,
        version,
        requestId,
        durationMs,
      })),
    unserved: unserved.list(),
  };
}
