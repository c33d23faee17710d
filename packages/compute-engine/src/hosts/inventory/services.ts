import { lockName, type Tx } from '@apistrata/record-store';
import type { Core } from '../../core/core.js';
import { badRequest, conflict, notFound } from '../../errors/rejection.js';
import type { MigrationStatus, Service } from '../../model/index.js';
import { findHostsWithServers } from '../../resources/host-zones.js';
import { COMPUTE_BINARY, type HostMap } from '../../scheduler/infrastructure.js';
import { recordHeartbeat } from '../../scheduler/record-heartbeat.js';
import { dropResources } from '../../scheduler/resource-claims.js';
import { tables } from '../../schema/tables.js';
import {
  completeEvacuations,
  findEvacuationsFrom,
  OPEN_EVACUATION_STATUSES,
} from '../../server-migrations/evacuations.js';

/** Zone of services that do not run servers. */
export const INTERNAL_ZONE = 'internal';

/** A service, with the state that administrators see. */
export interface ServiceState {
  readonly service: Service;
  readonly zone: string;
  readonly up: boolean;
  /** Time of the last heartbeat in milliseconds since the epoch; null if there was none. */
  readonly lastSeenAt: number | null;
  /** Whether requests can reach the service's host. */
  readonly reachable: boolean;
}

/** Changes to a service; omitted fields stay unchanged. */
export interface ServiceChange {
  readonly disabled?: boolean;
  /** Null removes the reason; undefined keeps it. */
  readonly disabledReason?: string | null;
  readonly forcedDown?: boolean;
}

/** Services that only serve API requests. Administrators cannot manage them. */
const API_BINARIES: readonly string[] = ['nova-osapi_compute', 'nova-metadata'];

/** Migration statuses that require no further work from the hosts. */
const ENDED_STATUSES: readonly MigrationStatus[] = [
  'confirmed',
  'reverted',
  'completed',
  'cancelled',
  'failed',
  'error',
  'done',
];

/** Manages the services of the cloud, and records their heartbeats. */
export class Services {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Lists services, oldest first; filters match exactly. */
  async list(query: { readonly host?: string; readonly binary?: string } = {}): Promise<readonly ServiceState[]> {
    const hostMap = await this.#core.infrastructure.current();
    return hostMap.services
      .filter(
        ({ host, binary }) =>
          !API_BINARIES.includes(binary) &&
          (query.host === undefined || query.host === host) &&
          (query.binary === undefined || query.binary === binary),
      )
      .map((service) => this.#stateOf(service, hostMap));
  }

  /** Returns the service with a UUID. Throws a 404 error for an unknown UUID. */
  async get(id: string): Promise<ServiceState> {
    return this.#describe(requireService(await tables.services.get(this.#core.store, id), id));
  }

  /** Returns the service with a number (`seq`). Throws a 404 error for an unknown number. */
  async bySeq(seq: number): Promise<ServiceState> {
    return this.#describe(requireService(await tables.services.bySeq(this.#core.store, seq), seq));
  }

  /** Returns the service with a binary on a host. Throws a 404 error if it does not exist. */
  async on(host: string, binary: string): Promise<ServiceState> {
    const [service] = await this.list({ host, binary });
    if (!service) throw notFound(`Could not find binary ${binary} on host ${host}.`);
    return service;
  }

  /**
   * Updates a service. Throws a 400 error for services that do not run servers, and if a host is forced up before the
   * evacuations from it are completed.
   */
  async update(id: string, change: ServiceChange): Promise<ServiceState> {
    const changedService = await this.#core.store.transaction(async (tx) => {
      const service = requireService(await tables.services.lock(tx, id), id);
      if (service.binary !== COMPUTE_BINARY) {
        throw badRequest(
          `Updating a ${service.binary} service is not supported. Only ${COMPUTE_BINARY} services can be updated.`,
        );
      }
      if (change.forcedDown === false && service.forcedDown) await checkEvacuations(tx, service.host);
      this.#core.infrastructure.invalidateAfterCommit(tx);
      return tables.services.update(tx, { ...service, ...change, updatedAt: this.#core.clock.now() });
    });
    return this.#describe(changedService);
  }

  /**
   * Deletes a service; for a compute service, also its node and its memberships in aggregates. Throws a 409 error while
   * the host has servers or migrations in progress.
   */
  async delete(id: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'aggregates');
      const service = requireService(await tables.services.lock(tx, id), id);
      if (service.binary === COMPUTE_BINARY) await this.#removeEmptyHost(tx, service.host);
      await tables.services.delete(tx, id);
      this.#core.infrastructure.invalidateAfterCommit(tx);
    });
  }

  /**
   * Records the heartbeat of a service that runs in another process. The first heartbeat registers the service. From
   * then on, it is up only while heartbeats continue.
   * @param options.started whether the service has just started; if so, the evacuations from its host are completed
   */
  async heartbeat(host: string, binary: string, options: { readonly started?: boolean } = {}): Promise<void> {
    const { store, clock, infrastructure } = this.#core;
    await store.transaction(async (tx) => {
      const now = clock.now();
      await recordHeartbeat(tx, host, binary, now);
      if (options.started && binary === COMPUTE_BINARY) await completeEvacuations(tx, [host], now);
      infrastructure.invalidateAfterCommit(tx);
    });
  }

  /**
   * Completes the evacuations from the hosts that this process represents, because their compute services have started.
   * @param hosts limits this to the given hosts; default: all hosts that this process represents
   */
  async begin(hosts?: readonly string[]): Promise<void> {
    const { store, infrastructure, clock } = this.#core;
    const { services } = await infrastructure.current();
    const started = services
      .filter(({ binary, embedded, host }) => embedded && binary === COMPUTE_BINARY && hosts?.includes(host) !== false)
      .map(({ host }) => host);
    if ((await findEvacuationsFrom(store, started, ['done'])).length === 0) return;
    await store.transaction((tx) => completeEvacuations(tx, started, clock.now()));
  }

  async #removeEmptyHost(tx: Tx, host: string): Promise<void> {
    const nodes = await tables.nodes.find(tx, (q) => q.where('host', '=', host));
    // A placement locks the node when it claims capacity. After this lock, the query below finds the placed server, and
    // later placements find no node.
    for (const { id } of nodes) await tables.nodes.lock(tx, id);
    if ((await findHostsWithServers(tx, [host])).length > 0)
      throw conflict(
        'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.',
      );
    const migrationCount = await tables.migrations.count(tx, (q) =>
      q
        .where((eb: any) => eb.or([eb('source_host', '=', host), eb('dest_host', '=', host)]))
        .where('status', 'not in', ENDED_STATUSES),
    );
    if (migrationCount > 0) {
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
    for (const { id } of nodes) await tables.nodes.delete(tx, id);
    await dropResources(tx, host);
    // The host has no servers, so its pending requests are obsolete.
    await tx.db.deleteFrom('host_orders').where('host', '=', host).execute();
  }

  async #describe(service: Service): Promise<ServiceState> {
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

function requireService(service: Service | undefined, id: string | number): Service {
  if (!service) throw notFound(`Service ${id} could not be found.`);
  return service;
}

async function checkEvacuations(tx: Tx, host: string): Promise<void> {
  const openEvacuations = await findEvacuationsFrom(tx, [host], OPEN_EVACUATION_STATUSES);
  if (openEvacuations.length === 0) return;
  throw badRequest(
    `The compute service on host ${host} cannot be forced up: ${openEvacuations.length} evacuation(s) from it are not completed. Start the service again first.`,
  );
}
