import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs } from '@apistrata/catalogs/builtin';
import { lockName, type Store, type Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { DriverOffer } from '../model/index.js';
import { combineOffers, createNodeRecord, createServiceRecord } from '../scheduler/host-records.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { tables } from '../schema/tables.js';
import type { AggregateSeed, FlavorSeed, HostSeed, Preset } from './preset.js';

/** Control services of the cloud, which share one host. */
const CONTROL_BINARIES = ['nova-scheduler', 'nova-conductor'];
const CONTROL_HOST = 'controller';

/** Returns an aggregate for each availability zone, with the zone's name and hosts. */
function zoneAggregates(hosts: readonly HostSeed[]): AggregateSeed[] {
  const zones = [...new Set(hosts.flatMap(({ zone }) => zone ?? []))];
  return zones.map((zone) => ({
    name: zone,
    hosts: hosts.filter((host) => host.zone === zone).map(({ name }) => name),
    metadata: { availability_zone: zone },
  }));
}

/**
 * Updates the inventories, traits and capabilities of a known host, because the computer may have changed since the
 * last start.
 */
async function updateDriverOffer(tx: Tx, host: HostSeed, offer: DriverOffer): Promise<void> {
  const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', host.name));
  if (node && node.process === null) {
    const hostIp = host.address ?? node.hostIp;
    await tables.nodes.update(tx, { ...node, ...combineOffers(host, offer), hostIp });
  }
}

async function applyHosts(
  store: Store,
  clock: Clock,
  hosts: readonly HostSeed[],
  aggregates: readonly AggregateSeed[],
  offer: DriverOffer | undefined,
): Promise<void> {
  await store.transaction(async (tx) => {
    await lockName(tx, 'preset');
    const now = clock.now();
    const knownServices = new Set((await tables.services.find(tx)).map(({ host, binary }) => `${binary}@${host}`));
    const requestedServices = [
      ...(hosts.length > 0 ? CONTROL_BINARIES.map((binary) => [CONTROL_HOST, binary] as const) : []),
      ...hosts.map(({ name }) => [name, COMPUTE_BINARY] as const),
    ];
    for (const [host, binary] of requestedServices) {
      if (!knownServices.has(`${binary}@${host}`))
        await tables.services.insert(tx, createServiceRecord(host, binary, now));
    }
    for (const [position, host] of hosts.entries()) {
      if (!knownServices.has(`${COMPUTE_BINARY}@${host.name}`))
        await tables.nodes.insert(
          tx,
          createNodeRecord(host, host.address ?? `192.0.2.${(position % 254) + 1}`, now, offer),
        );
      else if (offer) await updateDriverOffer(tx, host, offer);
    }
    const aggregateNames = new Set((await tables.aggregates.find(tx)).map(({ name }) => name));
    for (const { name, hosts: members, metadata = {} } of [...zoneAggregates(hosts), ...aggregates]) {
      if (aggregateNames.has(name)) continue;
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

/**
 * Adds the records of a preset that the database lacks; existing records stay unchanged.
 *
 * @param offer additional inventories, traits and capabilities from the driver of these hosts; existing hosts are
 * updated with them
 */
export async function applyPreset(
  store: Store,
  clock: Clock,
  catalogs: EmbeddedCatalogs,
  preset: Preset,
  offer?: DriverOffer,
): Promise<void> {
  await applyHosts(store, clock, preset.hosts ?? [], preset.aggregates ?? [], offer);
  await applyFlavors(store, clock, preset.flavors ?? []);
  await catalogs.images.seed(preset.images ?? []);
  await catalogs.networks.seed(preset);
  await catalogs.volumes.seed(preset);
  await catalogs.shares.seed(preset.shares ?? []);
}
