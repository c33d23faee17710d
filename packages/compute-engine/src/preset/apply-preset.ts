import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs } from '@apistrata/catalogs/builtin';
import { lockName, type Store } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import { nodeRecord, serviceRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { tables } from '../schema/tables.js';
import type { AggregateSeed, FlavorSeed, HostSeed, Preset } from './preset.js';

/** Services that run the cloud itself, on one machine. */
const CONTROL_BINARIES = ['nova-scheduler', 'nova-conductor'];
const CONTROL_HOST = 'controller';

/** Zones are aggregates: hosts that name one are gathered in an aggregate of that name. */
function zoneAggregates(hosts: readonly HostSeed[]): AggregateSeed[] {
  const zones = [...new Set(hosts.flatMap(({ zone }) => zone ?? []))];
  return zones.map((zone) => ({
    name: zone,
    hosts: hosts.filter((host) => host.zone === zone).map(({ name }) => name),
    metadata: { availability_zone: zone },
  }));
}

async function applyHosts(
  store: Store,
  clock: Clock,
  hosts: readonly HostSeed[],
  aggregates: readonly AggregateSeed[],
): Promise<void> {
  await store.transaction(async (tx) => {
    await lockName(tx, 'preset');
    const now = clock.now();
    const known = new Set((await tables.services.find(tx)).map(({ host, binary }) => `${binary}@${host}`));
    const requested = [
      ...(hosts.length > 0 ? CONTROL_BINARIES.map((binary) => [CONTROL_HOST, binary] as const) : []),
      ...hosts.map(({ name }) => [name, COMPUTE_BINARY] as const),
    ];
    for (const [host, binary] of requested) {
      if (!known.has(`${binary}@${host}`)) await tables.services.insert(tx, serviceRecord(host, binary, now));
    }
    for (const [position, host] of hosts.entries()) {
      if (!known.has(`${COMPUTE_BINARY}@${host.name}`))
        await tables.nodes.insert(tx, nodeRecord(host, `192.0.2.${(position % 254) + 1}`, now));
    }
    const names = new Set((await tables.aggregates.find(tx)).map(({ name }) => name));
    for (const { name, hosts: members, metadata = {} } of [...zoneAggregates(hosts), ...aggregates]) {
      if (names.has(name)) continue;
      await tables.aggregates.insert(tx, {
        id: randomUUID(),
        name,
        hosts: members,
        metadata,
        createdAt: now,
        updatedAt: null,
      });
    }
  });
}

async function applyFlavors(store: Store, clock: Clock, flavors: readonly FlavorSeed[]): Promise<void> {
  await store.transaction(async (tx) => {
    await lockName(tx, 'preset');
    for (const flavor of flavors) {
      if (await tables.flavors.get(tx, flavor.id)) continue;
      await tables.flavors.insert(tx, {
        description: null,
        ephemeralGb: 0,
        swapMb: 0,
        rxtxFactor: 1,
        isPublic: true,
        disabled: false,
        extraSpecs: {},
        projects: [],
        createdAt: clock.now(),
        updatedAt: null,
        ...flavor,
      });
    }
  });
}

/** Adds what a preset has and the database has not; what is there stays as it has become. */
export async function applyPreset(
  store: Store,
  clock: Clock,
  catalogs: EmbeddedCatalogs,
  preset: Preset,
): Promise<void> {
  await applyHosts(store, clock, preset.hosts ?? [], preset.aggregates ?? []);
  await applyFlavors(store, clock, preset.flavors ?? []);
  await catalogs.images.seed(preset.images ?? []);
  await catalogs.networks.seed(preset);
  await catalogs.volumes.seed(preset);
  await catalogs.shares.seed(preset.shares ?? []);
}
