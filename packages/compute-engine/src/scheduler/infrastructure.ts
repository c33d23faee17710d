import type { Session, Store, Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Settings } from '../core/settings.js';
import type { Aggregate, Node, Service } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Name of the service that runs servers on a host. */
export const COMPUTE_BINARY = 'nova-compute';

/** A host with its service, node and aggregates. */
export interface Host {
  readonly name: string;
  readonly service: Service;
  readonly node: Node;
  readonly aggregates: readonly Aggregate[];
  readonly zone: string;
  readonly status: HostStatus;
}

/** Status of a host as users see it; `UNKNOWN` if it has no recent heartbeat. */
export type HostStatus = 'UP' | 'DOWN' | 'MAINTENANCE' | 'UNKNOWN';

/** A consistent snapshot of all hosts. */
export interface HostMap {
  /** Changes whenever a host is added or removed, or its availability zone, state or reachability changes. */
  readonly epoch: number;
  readonly hosts: ReadonlyMap<string, Host>;
  readonly services: readonly Service[];
  readonly aggregates: readonly Aggregate[];
  /** Names of hosts that currently cannot be reached, see {@link Infrastructure.setReachable}. */
  readonly unreachable: ReadonlySet<string>;
}

/**
 * Maximum age of a snapshot if other processes may change hosts. Capacity is exact in any case, because claims check
 * it.
 */
const MAX_SNAPSHOT_AGE_MS = 1000;

/** Caches hosts, services and aggregates as one snapshot, which is read again after changes. */
export class Infrastructure {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #settings: Settings;
  #hostMap: Promise<HostMap> | undefined;
  #lastHostMap: HostMap | undefined;
  #readAt = 0;
  #epoch = 0;
  /** The state that the current epoch represents. */
  #epochState = '';
  /** The time at which the next service will be down unless it sends a heartbeat. */
  #nextDownAt = Number.POSITIVE_INFINITY;
  readonly #unreachable = new Set<string>();

  constructor(store: Store, clock: Clock, settings: Settings) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
  }

  /**
   * Invalidates the snapshot after the commit. Must be called in every transaction that changes services, nodes or
   * aggregates.
   */
  invalidateAfterCommit(tx: Tx): void {
    tx.afterCommit(() => {
      this.#hostMap = undefined;
    });
  }

  /** Returns the snapshot. In a transaction that changes hosts, `readHosts(tx)` includes these changes. */
  hosts(): Promise<HostMap> {
    const isTooOld = this.#store.kind === 'postgres' && Date.now() - this.#readAt > MAX_SNAPSHOT_AGE_MS;
    const isStale = isTooOld || this.#clock.now() >= this.#nextDownAt;
    if (!this.#hostMap || isStale) {
      this.#readAt = Date.now();
      this.#nextDownAt = Number.POSITIVE_INFINITY;
      this.#hostMap = this.readHosts(this.#store).then((hostMap) => {
        // Not assigned in `readHosts`, because other callers of `readHosts` must not change the cached snapshot.
        this.#lastHostMap = hostMap;
        this.#nextDownAt = Math.min(...hostMap.services.map((service) => this.#expectedDownAt(service)));
        return hostMap;
      });
      this.#hostMap.catch(() => {
        this.#hostMap = undefined;
      });
    }
    return this.#hostMap;
  }

  /** Returns a host from the last snapshot, for synchronous callers; undefined before the first snapshot. */
  lastKnownHost(host: string): Host | undefined {
    return this.#lastHostMap?.hosts.get(host);
  }

  /** Returns the hosts as currently stored, including changes by other processes. For host administration. */
  current(): Promise<HostMap> {
    return this.#store.kind === 'postgres' ? this.readHosts(this.#store) : this.hosts();
  }

  async readHosts(session: Session): Promise<HostMap> {
    const services = await tables.services.find(session, (q) => q.orderBy('seq'));
    const nodes = await tables.nodes.find(session, (q) => q.orderBy('seq'));
    const aggregates = await tables.aggregates.find(session, (q) => q.orderBy('seq'));
    const hosts = new Map<string, Host>();
    for (const node of nodes) {
      const service = services.find(({ host, binary }) => host === node.host && binary === COMPUTE_BINARY);
      if (!service) continue;
      const memberships = aggregates.filter((aggregate) => aggregate.hosts.includes(node.host));
      const zone = memberships.map(({ metadata }) => metadata.availability_zone).find((z) => z !== undefined);
      hosts.set(node.host, {
        name: node.host,
        service,
        node,
        aggregates: memberships,
        zone: zone ?? this.#settings.defaultZone,
        status: this.#statusOf(service),
      });
    }
    const unreachable = new Set(this.#unreachable);
    return { epoch: this.#updateEpoch(hosts, unreachable), hosts, services, aggregates, unreachable };
  }

  /**
   * Returns the current epoch. Heartbeats alone do not change it, so that values that are cached by epoch stay valid.
   */
  #updateEpoch(hosts: ReadonlyMap<string, Host>, unreachable: ReadonlySet<string>): number {
    const state = JSON.stringify([
      [...hosts.values()].map(({ name, zone, status }) => [name, zone, status]),
      [...unreachable],
    ]);
    if (state !== this.#epochState) {
      this.#epochState = state;
      this.#epoch++;
    }
    return this.#epoch;
  }

  /**
   * Simulates a failure of a host's cell (not of the host): until the cell is reachable again, the API shows only that
   * the host's service and servers exist. Affects only this process and is not stored.
   */
  setReachable(host: string, reachable: boolean): void {
    if (reachable) this.#unreachable.delete(host);
    else this.#unreachable.add(host);
    this.#hostMap = undefined;
  }

  /** Returns whether a service is up: not forced down, with a recent heartbeat. */
  isUp(service: Service): boolean {
    if (service.forcedDown) return false;
    if (service.embedded) return true;
    return service.lastSeenAt !== null && this.#clock.now() < this.#downAt(service.lastSeenAt);
  }

  /** Returns the time of the last heartbeat; for a host that this process represents, the current time. */
  lastSeenAt(service: Service): number | null {
    return service.embedded ? this.#clock.now() : service.lastSeenAt;
  }

  #downAt(lastSeenAt: number): number {
    return lastSeenAt + this.#settings.serviceDownSeconds * 1000 + 1;
  }

  /** Returns the time at which a service that is up will be down unless it sends another heartbeat. */
  #expectedDownAt(service: Service): number {
    const { embedded, lastSeenAt } = service;
    if (embedded || lastSeenAt === null || !this.isUp(service)) return Number.POSITIVE_INFINITY;
    return this.#downAt(lastSeenAt);
  }

  /**
   * Returns a status that remains valid as long as the snapshot does. The snapshot expires at the time at which the
   * next service will be down unless it sends a heartbeat.
   */
  #statusOf(service: Service): HostStatus {
    if (service.forcedDown) return 'DOWN';
    if (service.disabled) return 'MAINTENANCE';
    return this.isUp(service) ? 'UP' : 'UNKNOWN';
  }
}
