import { lockName, type Tx } from '@apistrata/record-store';
import type { Core } from '../../core/core.js';
import { badRequest, conflict, notFound } from '../../errors/refusal.js';
import type { MigrationStatus, Service } from '../../model/index.js';
import { hostsWithServers } from '../../resources/host-zones.js';
import { COMPUTE_BINARY, type HostMap } from '../../scheduler/infrastructure.js';
import { signOfLife } from '../../scheduler/sign-of-life.js';
import { tables } from '../../schema/tables.js';
import { completeEvacuations, evacuationsFrom } from '../../server-migrations/evacuations.js';

/** Zone of services that run no servers. */
export const INTERNAL_ZONE = 'internal';

/** A service as administrators see it. */
export interface ServiceState {
  readonly service: Service;
  readonly zone: string;
  readonly up: boolean;
  /** Milliseconds since the epoch; null when nothing was ever heard of it. */
  readonly lastSeenAt: number | null;
  /** False while nobody can ask about its host. */
  readonly reachable: boolean;
}

/** What may be changed of a service; what is left out stays. */
export interface ServiceChange {
  readonly disabled?: boolean;
  /** Null takes the reason away; left out it stays. */
  readonly disabledReason?: string | null;
  readonly forcedDown?: boolean;
}

/** Services that only answer requests; nobody manages them here. */
const API_BINARIES: readonly string[] = ['nova-osapi_compute', 'nova-metadata'];

/** Statuses of migrations that need nothing more of their hosts. */
const ENDED: readonly MigrationStatus[] = [
  'confirmed',
  'reverted',
  'completed',
  'cancelled',
  'failed',
  'error',
  'done',
];

/** Statuses of evacuations whose old host has still to clean up, or must not come back yet. */
const EVACUATED: readonly MigrationStatus[] = ['accepted', 'pre-migrating', 'done'];

/** The services of the cloud, by number (`seq`) or by UUID. */
export class Services {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Oldest first; the filters match exactly. */
  async list(query: { readonly host?: string; readonly binary?: string } = {}): Promise<readonly ServiceState[]> {
    const picture = await this.#core.infrastructure.current();
    return picture.services
      .filter(
        ({ host, binary }) =>
          !API_BINARIES.includes(binary) &&
          (query.host === undefined || query.host === host) &&
          (query.binary === undefined || query.binary === binary),
      )
      .map((service) => this.#stateOf(service, picture));
  }

  async get(id: string): Promise<ServiceState> {
    return this.#described(known(await tables.services.get(this.#core.store, id), id));
  }

  async bySeq(seq: number): Promise<ServiceState> {
    return this.#described(known(await tables.services.bySeq(this.#core.store, seq), seq));
  }

  /** The service of a kind on a host; 404 for none. */
  async on(host: string, binary: string): Promise<ServiceState> {
    const [service] = await this.list({ host, binary });
    if (!service) throw notFound(`Could not find binary ${binary} on host ${host}.`);
    return service;
  }

  /** Throws 400 for services that run no servers, and for hosts that come back before their evacuations are completed. */
  async update(id: string, change: ServiceChange): Promise<ServiceState> {
    const changed = await this.#core.store.transaction(async (tx) => {
      const service = known(await tables.services.lock(tx, id), id);
      if (service.binary !== COMPUTE_BINARY) {
        throw badRequest(
          `Updating a ${service.binary} service is not supported. Only ${COMPUTE_BINARY} services can be updated.`,
        );
      }
      if (change.forcedDown === false && service.forcedDown) await checkEvacuations(tx, service.host);
      this.#core.infrastructure.changedIn(tx);
      return tables.services.update(tx, { ...service, ...change, updatedAt: this.#core.clock.now() });
    });
    return this.#described(changed);
  }

  /**
   * Takes a service away, and with a compute service its node and its place in aggregates. Throws 409 while the host has
   * servers or migrations that are under way.
   */
  async delete(id: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'aggregates');
      const service = known(await tables.services.lock(tx, id), id);
      if (service.binary === COMPUTE_BINARY) await this.#emptyHost(tx, service.host);
      await tables.services.delete(tx, id);
      this.#core.infrastructure.changedIn(tx);
    });
  }

  /**
   * A sign of life of a service that runs outside this process; its first one makes it known. From then on it is up only
   * while such signs keep coming.
   * @param options.started the service has just begun to run, so what it left behind when it failed is cleaned up
   */
  async heartbeat(host: string, binary: string, options: { readonly started?: boolean } = {}): Promise<void> {
    const { store, clock, infrastructure } = this.#core;
    await store.transaction(async (tx) => {
      const now = clock.now();
      await signOfLife(tx, host, binary, now);
      if (options.started && binary === COMPUTE_BINARY) await completeEvacuations(tx, [host], now);
      infrastructure.changedIn(tx);
    });
  }

  /**
   * The compute services that this process stands for have just begun to run, on all hosts or on those given: what was
   * evacuated from them is cleaned up there.
   */
  async begin(hosts?: readonly string[]): Promise<void> {
    const { store, infrastructure, clock } = this.#core;
    const { services } = await infrastructure.current();
    const begun = services
      .filter(({ binary, embedded, host }) => embedded && binary === COMPUTE_BINARY && hosts?.includes(host) !== false)
      .map(({ host }) => host);
    if ((await evacuationsFrom(store, begun, ['done'])).length === 0) return;
    await store.transaction((tx) => completeEvacuations(tx, begun, clock.now()));
  }

  async #emptyHost(tx: Tx, host: string): Promise<void> {
    if ((await hostsWithServers(tx, [host])).length > 0)
      throw conflict(
        'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.',
      );
    const underway = await tables.migrations.count(tx, (q) =>
      q
        .where((eb: any) => eb.or([eb('source_host', '=', host), eb('dest_host', '=', host)]))
        .where('status', 'not in', ENDED),
    );
    if (underway > 0) {
      throw conflict(
        'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.',
      );
    }
    const now = this.#core.clock.now();
    for (const aggregate of await tables.aggregates.find(tx)) {
      if (!aggregate.hosts.includes(host)) continue;
      const hosts = aggregate.hosts.filter((member) => member !== host);
      await tables.aggregates.update(tx, { ...aggregate, hosts, updatedAt: now });
    }
    for (const { id } of await tables.nodes.find(tx, (q) => q.where('host', '=', host)))
      await tables.nodes.delete(tx, id);
    // It has no servers: nobody waits for what it was still to do.
    await tx.db.deleteFrom('host_orders').where('host', '=', host).execute();
  }

  async #described(service: Service): Promise<ServiceState> {
    return this.#stateOf(service, await this.#core.infrastructure.current());
  }

  #stateOf(service: Service, { hosts, unreachable }: HostMap): ServiceState {
    const { infrastructure, settings } = this.#core;
    const isCompute = service.binary === COMPUTE_BINARY;
    return {
      service,
      zone: isCompute ? (hosts.get(service.host)?.zone ?? settings.defaultZone) : INTERNAL_ZONE,
      up: infrastructure.isUp(service),
      lastSeenAt: infrastructure.lastSeenAt(service),
      reachable: !(isCompute && unreachable.has(service.host)),
    };
  }
}

function known(service: Service | undefined, id: string | number): Service {
  if (!service) throw notFound(`Service ${id} could not be found.`);
  return service;
}

async function checkEvacuations(tx: Tx, host: string): Promise<void> {
  const open = await evacuationsFrom(tx, [host], EVACUATED);
  if (open.length === 0) return;
  throw badRequest(
    `The compute service on host ${host} cannot be forced up: ${open.length} evacuation(s) from it are not completed. Start it again first.`,
  );
}
