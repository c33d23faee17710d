import { randomUUID } from 'node:crypto';
import { ifMissing } from '@apistrata/catalogs';
import { lockName, type Tx } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { badRequest, conflict, notFound } from '../errors/rejection.js';
import type { Aggregate } from '../model/index.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { tables } from '../schema/tables.js';
import { findHostsWithServers, zonesOfHost } from './host-zones.js';

const ZONE_KEY = 'availability_zone';

type AggregateChange = Partial<Pick<Aggregate, 'name' | 'hosts' | 'metadata'>>;

/** A change to an aggregate's metadata. Null removes an item. */
type MetadataChange = Readonly<Record<string, string | null>>;

/**
 * Manages host aggregates. An aggregate's metadata may define an availability zone, and a host is in at most one zone.
 * To enforce this rule, changes are serialized.
 */
export class Aggregates {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Lists aggregates, oldest first. */
  list(): Promise<readonly Aggregate[]> {
    return tables.aggregates.find(this.#core.store, (q) => q.orderBy('seq'));
  }

  async get(seq: number): Promise<Aggregate> {
    const aggregate = await tables.aggregates.bySeq(this.#core.store, seq);
    if (!aggregate) throw aggregateNotFound(seq);
    return aggregate;
  }

  /** Creates an aggregate. Throws 409 if the name is in use. */
  async create(name: string, zone?: string | null): Promise<Aggregate> {
    return this.#runExclusively(async (tx) => {
      await checkName(tx, name);
      return tables.aggregates.insert(tx, {
        id: randomUUID(),
        name,
        hosts: [],
        metadata: zone ? { [ZONE_KEY]: zone } : {},
        createdAt: this.#core.clock.now(),
        updatedAt: null,
      });
    });
  }

  /**
   * Changes an aggregate. Throws 409 if the name is in use, and 400 if the aggregate's hosts cannot join the new zone.
   */
  update(seq: number, change: { readonly name?: string; readonly zone?: string | null }): Promise<Aggregate> {
    return this.#change(seq, async (tx, aggregate) => {
      if (change.name !== undefined && change.name !== aggregate.name) await checkName(tx, change.name);
      const name = change.name ?? aggregate.name;
      if (change.zone === undefined) return { name };
      return { name, metadata: await mergeMetadata(tx, aggregate, { [ZONE_KEY]: change.zone }, 'update') };
    });
  }

  /**
   * Merges items into an aggregate's metadata. Throws 400 if the aggregate's hosts cannot join the new zone, or if the
   * change removes the zone.
   */
  setMetadata(seq: number, change: MetadataChange): Promise<Aggregate> {
    return this.#change(seq, async (tx, aggregate) => ({
      metadata: await mergeMetadata(tx, aggregate, change, 'update metadata of'),
    }));
  }

  /**
   * Adds a host to an aggregate. Throws 404 if the host is unknown, and 409 if it is already in the aggregate or if the
   * zone of its servers would change.
   */
  addHost(seq: number, host: string): Promise<Aggregate> {
    return this.#change(seq, async (tx, aggregate) => {
      await checkHost(tx, host);
      if (aggregate.hosts.includes(host)) throw conflict(`Aggregate ${seq} already has host ${host}.`);
      const zone = aggregate.metadata[ZONE_KEY];
      const otherZones = await zonesOfHost(tx, host);
      const reason = `Cannot add host ${host} in aggregate ${seq}: `;
      if (zone !== undefined && otherZones.some((other) => other !== zone))
        throw conflict(`${reason}host already in availability zone(s) ${otherZones.join(', ')}.`);
      const changesZone = zone !== undefined && zone !== (otherZones[0] ?? this.#core.settings.defaultZone);
      if (changesZone && (await findHostsWithServers(tx, [host])).length > 0)
        throw conflict(`${reason}it has servers, and their availability zone would change.`);
      return { hosts: [...aggregate.hosts, host] };
    });
  }

  /**
   * Removes a host from an aggregate. Throws 404 if the host is not in the aggregate, and 409 if the zone of its
   * servers would change.
   */
  removeHost(seq: number, host: string): Promise<Aggregate> {
    return this.#change(seq, async (tx, aggregate) => {
      if (!aggregate.hosts.includes(host)) throw notFound(`Aggregate ${seq} has no host ${host}.`);
      const zone = aggregate.metadata[ZONE_KEY];
      const otherZones = await zonesOfHost(tx, host, seq);
      const changesZone = zone !== undefined && zone !== (otherZones[0] ?? this.#core.settings.defaultZone);
      if (changesZone && (await findHostsWithServers(tx, [host])).length > 0) {
        throw conflict(
          `Cannot remove host ${host} from aggregate ${seq}: it has servers, and their availability zone would change.`,
        );
      }
      return { hosts: aggregate.hosts.filter((member) => member !== host) };
    });
  }

  /** Deletes an aggregate. Throws 400 if it has hosts. */
  async delete(seq: number): Promise<void> {
    await this.#runExclusively(async (tx) => {
      const aggregate = await tables.aggregates.bySeq(tx, seq);
      if (!aggregate) throw aggregateNotFound(seq);
      if (aggregate.hosts.length > 0) throw badRequest(`Cannot delete aggregate ${seq}: host aggregate is not empty.`);
      await tables.aggregates.delete(tx, aggregate.id);
    });
  }

  /**
   * Instructs the hosts in an aggregate that are up to cache images before servers need them. Resolves before the
   * downloads end, and does not report failed downloads. Throws 400 if the caller cannot see one of the images.
   */
  async cacheImages({ caller }: Context, seq: number, imageIds: readonly string[]): Promise<void> {
    const { hosts } = await this.get(seq);
    const { machines, infrastructure, catalogs } = this.#core;
    for (const id of imageIds) {
      if (!(await catalogs.images.get(caller, id).catch(ifMissing)))
        throw badRequest(`Image ${id} could not be found.`);
    }
    const hostMap = await infrastructure.hosts();
    for (const name of hosts) {
      const host = hostMap.hosts.get(name);
      if (host && infrastructure.isUp(host.service)) void machines.cacheImages(name, imageIds).catch(() => {});
    }
  }

  #change(seq: number, createChange: (tx: Tx, aggregate: Aggregate) => Promise<AggregateChange>): Promise<Aggregate> {
    return this.#runExclusively(async (tx) => {
      const aggregate = await tables.aggregates.bySeq(tx, seq);
      if (!aggregate) throw aggregateNotFound(seq);
      const change = await createChange(tx, aggregate);
      // Nova stores an aggregate's hosts in a separate table, so adding or removing a host does not change
      // `updated_at`.
      const updatedAt = change.hosts ? aggregate.updatedAt : this.#core.clock.now();
      return tables.aggregates.update(tx, { ...aggregate, ...change, updatedAt });
    });
  }

  /** Runs a transaction while no other change to an aggregate is in progress, because the rules span all aggregates. */
  #runExclusively<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'aggregates');
      this.#core.infrastructure.invalidateAfterCommit(tx);
      return work(tx);
    });
  }
}

function aggregateNotFound(seq: number) {
  return notFound(`Aggregate ${seq} could not be found.`);
}

async function checkName(tx: Tx, name: string): Promise<void> {
  if ((await tables.aggregates.count(tx, (q) => q.where('name', '=', name))) > 0)
    throw conflict(`Aggregate ${name} already exists.`);
}

async function checkHost(tx: Tx, host: string): Promise<void> {
  const services = await tables.services.count(tx, (q) =>
    q.where('host', '=', host).where('binary_name', '=', COMPUTE_BINARY),
  );
  if (services === 0) throw notFound(`Compute host ${host} could not be found.`);
}

/**
 * Returns an aggregate's metadata after a change. Throws 400 if the change would put a host in two zones, move servers
 * to another zone, or remove the zone.
 */
async function mergeMetadata(
  tx: Tx,
  { seq, hosts, metadata }: Aggregate,
  change: MetadataChange,
  action: string,
): Promise<Readonly<Record<string, string>>> {
  const zone = change[ZONE_KEY];
  const rejected = (reason: string) => badRequest(`Cannot ${action} aggregate ${seq}: ${reason}.`);
  if (zone !== undefined && zone !== metadata[ZONE_KEY]) {
    if (!zone) throw rejected('an availability zone without a name is not supported');
    const otherZones = await Promise.all(hosts.map((host) => zonesOfHost(tx, host, seq)));
    const conflictingZones = [...new Set(otherZones.flat())].filter((other) => other !== zone);
    if (conflictingZones.length > 0)
      throw rejected(`one or more hosts already in availability zone(s) ${conflictingZones.join(', ')}`);
    if ((await findHostsWithServers(tx, hosts)).length > 0)
      throw rejected('one or more hosts contain instances in this zone');
  }
  const mergedItems = Object.entries({ ...metadata, ...change });
  return Object.fromEntries(mergedItems.filter((item): item is [string, string] => item[1] !== null));
}
