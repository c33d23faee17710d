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
  const { engine } = world();
  const { db } = engine.store;
  const states = await db
    .selectFrom('servers')
    .select(['vm_state', ({ fn }) => fn.countAll().as('n')])
    .where('deleted', '=', 0)
    .groupBy('vm_state')
    .execute();
  const rows = await db
    .selectFrom('servers')
    .select('data')
    .where('deleted', '=', 0)
    .orderBy('seq', 'desc')
    .limit(SHOWN_SERVERS)
    .execute();
  const nodes = await db
    .selectFrom('nodes')
    .select(['data', 'vcpus_used', 'memory_mb_used', 'servers'])
    .orderBy('seq')
    .execute();
  return {
    now: new Date(clock.now()).toISOString(),
    frozen: clock.frozen,
    counts: Object.fromEntries(states.map(({ vm_state, n }) => [vm_state, Number(n)])),
    servers: rows.map(({ data }) => {
      const { id, name, vmState, taskState, host, flavor, interfaces } = JSON.parse(data as string);
      const addresses = (interfaces as { fixedIps: { address: string }[] }[]).flatMap(({ fixedIps }) =>
        fixedIps.map(({ address }) => address),
      );
      return { id, name, state: vmState, task: taskState, host, flavor: flavor.name, addresses };
    }),
    hosts: nodes.map(({ data, vcpus_used, memory_mb_used, servers }) => {
      const { host, vcpus, memoryMb } = JSON.parse(data as string);
      return { host, servers, vcpus, vcpusUsed: vcpus_used, memoryMb, memoryUsedMb: memory_mb_used };
    }),
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
