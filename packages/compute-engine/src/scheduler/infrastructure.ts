import type { Session, Store, Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Settings } from '../core/settings.js';
import type { Aggregate, Node, Service } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Name of the service that runs servers on a host. */
export const COMPUTE_BINARY = 'nova-compute';

/** Everything known of one host. */
export interface Host {
  readonly name: string;
  readonly service: Service;
  readonly node: Node;
  readonly aggregates: readonly Aggregate[];
  readonly zone: string;
  readonly status: HostStatus;
}

/** What users are told of a host: `UNKNOWN` when it was not heard of lately. */
export type HostStatus = 'UP' | 'DOWN' | 'MAINTENANCE' | 'UNKNOWN';

/** A consistent picture of all hosts. */
export interface HostMap {
  /** Another number whenever hosts have come or gone, or one has another zone or state, or can be reached or no longer. */
  readonly epoch: number;
  readonly hosts: ReadonlyMap<string, Host>;
  readonly services: readonly Service[];
  readonly aggregates: readonly Aggregate[];
  /** Names of hosts that nobody can ask anything now, see {@link Infrastructure.setReachable}. */
  readonly unreachable: ReadonlySet<string>;
}

/** How old a picture may be when other processes change hosts too. Capacity is exact all the same: claims check it. */
const SHARED_PICTURE_MS = 1000;

/** Hosts, services and aggregates as one picture, read again when something of it has changed. */
export class Infrastructure {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #settings: Settings;
  #picture: Promise<HostMap> | undefined;
  #last: HostMap | undefined;
  #readAt = 0;
  #epoch = 0;
  /** What the epoch stands for. */
  #told = '';
  /** When, without any write, the next service will have been silent for too long. */
  #silentAt = Number.POSITIVE_INFINITY;
  readonly #unreachable = new Set<string>();

  constructor(store: Store, clock: Clock, settings: Settings) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** To be called in every transaction that changes services, nodes or aggregates. */
  changedIn(tx: Tx): void {
    tx.afterCommit(() => {
      this.#picture = undefined;
    });
  }

  /** The picture; within a transaction that changes hosts itself, `readHosts(tx)` sees those changes. */
  hosts(): Promise<HostMap> {
    const shared = this.#store.kind === 'postgres' && Date.now() - this.#readAt > SHARED_PICTURE_MS;
    const stale = shared || this.#clock.now() >= this.#silentAt;
    if (!this.#picture || stale) {
      this.#readAt = Date.now();
      this.#silentAt = Number.POSITIVE_INFINITY;
      this.#picture = this.readHosts(this.#store).then((picture) => {
        // Of this picture only: who reads the hosts for themselves does not make this one any newer.
        this.#last = picture;
        this.#silentAt = Math.min(...picture.services.map((service) => this.#endOfLife(service)));
        return picture;
      });
      this.#picture.catch(() => {
        this.#picture = undefined;
      });
    }
    return this.#picture;
  }

  /** The host of that name as it was last seen, for questions that cannot wait; undefined also before anybody has looked. */
  lastKnown(host: string): Host | undefined {
    return this.#last?.hosts.get(host);
  }

  /** The picture as the database has it at this moment, whoever changed it last: for those who look after the hosts. */
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
      const member = aggregates.filter((aggregate) => aggregate.hosts.includes(node.host));
      const zone = member.map(({ metadata }) => metadata.availability_zone).find((z) => z !== undefined);
      hosts.set(node.host, {
        name: node.host,
        service,
        node,
        aggregates: member,
        zone: zone ?? this.#settings.defaultZone,
        status: this.#statusOf(service),
      });
    }
    const unreachable = new Set(this.#unreachable);
    return { epoch: this.#epochOf(hosts, unreachable), hosts, services, aggregates, unreachable };
  }

  /** Most of what is read again is what it was, but for signs of life: what is kept for an epoch stays good. */
  #epochOf(hosts: ReadonlyMap<string, Host>, unreachable: ReadonlySet<string>): number {
    const told = JSON.stringify([
      [...hosts.values()].map(({ name, zone, status }) => [name, zone, status]),
      [...unreachable],
    ]);
    if (told !== this.#told) {
      this.#told = told;
      this.#epoch++;
    }
    return this.#epoch;
  }

  /**
   * Plays the failure of the part of the cloud that knows a host (not of the host): until it is reachable again, all that
   * can be told of the host's service and servers is that they exist. For this process only, and not kept.
   */
  setReachable(host: string, reachable: boolean): void {
    if (reachable) this.#unreachable.delete(host);
    else this.#unreachable.add(host);
    this.#picture = undefined;
  }

  /** Whether a service shows signs of life: not forced down, and seen lately. */
  isUp(service: Service): boolean {
    if (service.forcedDown) return false;
    if (service.embedded) return true;
    return service.lastSeenAt !== null && this.#clock.now() < this.#downAt(service.lastSeenAt);
  }

  /** The last sign of life. A host that this process stands for gives one whenever it is asked. */
  lastSeenAt(service: Service): number | null {
    return service.embedded ? this.#clock.now() : service.lastSeenAt;
  }

  #downAt(lastSeenAt: number): number {
    return lastSeenAt + this.#settings.serviceDownSeconds * 1000 + 1;
  }

  /** When a service that is up now will be down unless it is heard of again. */
  #endOfLife(service: Service): number {
    const { embedded, lastSeenAt } = service;
    if (embedded || lastSeenAt === null || !this.isUp(service)) return Number.POSITIVE_INFINITY;
    return this.#downAt(lastSeenAt);
  }

  /** Holds as long as the picture does: the picture ends with the first service that has been silent for too long. */
  #statusOf(service: Service): HostStatus {
    if (service.forcedDown) return 'DOWN';
    if (service.disabled) return 'MAINTENANCE';
    return this.isUp(service) ? 'UP' : 'UNKNOWN';
  }
}
