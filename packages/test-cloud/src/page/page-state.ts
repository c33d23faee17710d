import { overview } from '@apistrata/compute-engine/testing';
import { shownRule } from '../control/shown-rule.js';
import type { CloudAppOptions } from '../front/cloud-app.js';

const SHOWN_SERVERS = 50;

/** What the page shows, read at one moment. */
export async function pageState({
  world,
  clock,
  unserved,
  rules,
}: Pick<CloudAppOptions, 'world' | 'clock' | 'unserved' | 'rules'>) {
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
    rules: rules.list().map(shownRule),
    unserved: unserved.list(),
  };
}
