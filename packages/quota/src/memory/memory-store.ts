import { checkOptions } from '../check-options.js';
import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import { type Amounts, type ExceededLimit, isWithinLimit } from '../limits.js';
import type { ConsumeRequest, OwnLimits, Page, QuotaStore, ReserveRequest, StoredReservation } from '../store.js';
import { type ReservationEntry, ReservationHeap } from './reservation-heap.js';
import { warnIfMultipleProcesses } from './several-processes.js';

/** Options for `memoryStore()`. */
export interface MemoryStoreOptions {
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /**
   * Whether it is intended that each process allows the full limit, so that several processes together can exceed the
   * limit. If true, the warning for services with several processes is not emitted. Default false.
   */
  readonly perProcess?: boolean;
}

interface Counter {
  used: number;
  reserved: number;
}

interface ProjectUsage {
  readonly counters: Map<string, Counter>;
  readonly reservations: ReservationHeap;
}

const NONE_EXCEEDED: readonly ExceededLimit[] = Object.freeze([]);

/**
 * Creates a store in the memory of this process, for tests, for services with a single process, and as a fallback for a shared
 * store. Limits and usage are lost when the process exits. Emits a warning in a cluster worker, with `WEB_CONCURRENCY` above 1,
 * and under PM2.
 *
 * @example
 * ```ts
 * import { projectQuotas } from '@apistrata/quota';
 * import { memoryStore } from '@apistrata/quota/memory';
 *
 * const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 500 } });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): QuotaStore {
  checkOptions('memoryStore', options, { clock: true, perProcess: true });
  if (!options.perProcess) warnIfMultipleProcesses();
  return new MemoryStore(options.clock ?? Date.now);
}

class MemoryStore implements QuotaStore {
  readonly #clock: () => number;
  readonly #projects = new Map<string, ProjectUsage>();
  readonly #limits = new Map<string, OwnLimits>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  reserve(request: ReserveRequest): readonly ExceededLimit[] {
    const { id, amounts, ttlMs } = request;
    return this.#add(request, 'reserved', (project) => {
      project.reservations.set({ id, amounts, expiresAt: this.#clock() + ttlMs });
    });
  }

  /**
   * Adds amounts to the used amounts. A call in the same process cannot lose its result, so if it fails, nothing was
   * counted.
   */
  consume(request: ConsumeRequest): readonly ExceededLimit[] {
    return this.#add(request, 'used');
  }

  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): boolean {
    const project = this.#projects.get(reservation.project);
    const entry = project?.reservations.get(reservation.id);
    if (!project || !entry) return false;
    const isAlive = entry.expiresAt > this.#clock();
    project.reservations.delete(reservation.id);
    settleAmounts(project, entry, isAlive && outcome === 'commit');
    this.#removeIfEmpty(reservation.project, project);
    return isAlive;
  }

  renew(reservation: StoredReservation, ttlMs: number): boolean {
    const reservations = this.#projects.get(reservation.project)?.reservations;
    const entry = reservations?.get(reservation.id);
    const now = this.#clock();
    if (!reservations || !entry || entry.expiresAt <= now) return false;
    reservations.set({ ...entry, expiresAt: now + ttlMs });
    return true;
  }

  counts(id: string): Readonly<Record<string, Counter>> {
    const project = this.#projects.get(id);
    if (!project) return {};
    this.#expire(project);
    return Object.fromEntries([...project.counters].map(([kind, counter]) => [kind, { ...counter }]));
  }

  release(id: string, amounts: Amounts): void {
    const project = this.#projects.get(id);
    if (!project) return;
    for (const [kind, amount] of Object.entries(amounts)) {
      const counter = counterOf(project, kind);
      counter.used = Math.max(0, counter.used - amount);
    }
    this.#removeIfEmpty(id, project);
  }

  recount(id: string, kind: string, used: number): void {
    const project = this.#projects.get(id) ?? this.#addProject(id);
    counterOf(project, kind).used = used;
    this.#removeIfEmpty(id, project);
  }

  getLimits(project: string): OwnLimits | undefined {
    return this.#limits.get(project);
  }

  setLimits(project: string, limits: OwnLimits): void {
    // The Map defines the order of lists: a project whose limits are set again keeps its position, and a project whose
    // limits were removed is added at the end.
    this.#limits.set(project, { ...limits });
  }

  removeLimits(project: string): boolean {
    return this.#limits.delete(project);
  }

  listLimits({ limit, offset }: Page) {
    const entries = [...this.#limits].slice(offset, offset + limit);
    return { entries: entries.map(([project, limits]) => ({ project, limits })), total: this.#limits.size };
  }

  sweep(): void {
    for (const [id, project] of this.#projects) {
      this.#expire(project);
      this.#removeIfEmpty(id, project);
    }
  }

  #add(
    request: ConsumeRequest,
    column: keyof Counter,
    onSuccess?: (project: ProjectUsage) => void,
  ): readonly ExceededLimit[] {
    const project = this.#projects.get(request.project) ?? this.#addProject(request.project);
    let exceeded = this.#exceeded(project, request);
    // Expired reservations are removed only if a limit is exceeded, because they may be the reason.
    if (exceeded.length > 0 && this.#expire(project)) exceeded = this.#exceeded(project, request);
    if (exceeded.length > 0) {
      this.#removeIfEmpty(request.project, project);
      return exceeded;
    }
    forEachAmount(request.amounts, (kind, amount) => {
      counterOf(project, kind)[column] += amount;
    });
    onSuccess?.(project);
    return NONE_EXCEEDED;
  }

  #exceeded(project: ProjectUsage, { project: id, amounts, defaults }: ConsumeRequest): readonly ExceededLimit[] {
    const ownLimits = this.#limits.get(id);
    let exceeded: ExceededLimit[] | undefined;
    forEachAmount(amounts, (kind, requested) => {
      const counter = project.counters.get(kind);
      const used = counter ? counter.used + counter.reserved : 0;
      const limit = limitFor(kind, ownLimits, defaults);
      if (isWithinLimit(limit, used, requested)) return;
      exceeded ??= [];
      exceeded.push({ kind, requested, used, limit: Number(limit) });
    });
    return exceeded ?? NONE_EXCEEDED;
  }

  #addProject(id: string): ProjectUsage {
    const project: ProjectUsage = { counters: new Map(), reservations: new ReservationHeap() };
    this.#projects.set(id, project);
    return project;
  }

  /** Removes expired reservations and frees their amounts. Returns whether any had expired. */
  #expire(project: ProjectUsage): boolean {
    const now = this.#clock();
    let hasFreed = false;
    for (let entry = project.reservations.removeExpired(now); entry; entry = project.reservations.removeExpired(now)) {
      settleAmounts(project, entry, false);
      hasFreed = true;
    }
    return hasFreed;
  }

  #removeIfEmpty(id: string, project: ProjectUsage): void {
    if (project.reservations.size > 0) return;
    for (const { used } of project.counters.values()) if (used > 0) return;
    this.#projects.delete(id);
  }
}

/** Subtracts the amounts of a removed reservation from the reserved amounts and, on commit, adds them to the used amounts. */
function settleAmounts(project: ProjectUsage, { amounts }: ReservationEntry, commit: boolean): void {
  forEachAmount(amounts, (kind, amount) => {
    const counter = counterOf(project, kind);
    counter.reserved -= amount;
    if (commit) counter.used += amount;
  });
}

function counterOf(project: ProjectUsage, kind: string): Counter {
  let counter = project.counters.get(kind);
  if (!counter) {
    counter = { used: 0, reserved: 0 };
    project.counters.set(kind, counter);
  }
  return counter;
}
