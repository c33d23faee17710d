import { randomUUID } from 'node:crypto';
import { checkOptions } from './check-options.js';
import { KINDS } from './defaults.js';
import { InvalidQuota, QuotaExceeded } from './errors.js';
import { checkAmounts, checkCount, checkKind, checkKinds, checkLimit, checkProject } from './inputs.js';
import { limitFor } from './limit-for.js';
import { type Amounts, checkLimits, type Excess, isNothing, type Limit, UNLIMITED } from './limits.js';
import { Reservation } from './reservation.js';
import type { MaybePromise, OwnLimits, Page, QuotaStore, ReserveRequest } from './store.js';
import { StoreCaller } from './store-caller.js';

/** What is counted, where, and how much of it there is. Times in milliseconds. */
export interface ProjectQuotasOptions {
  /** Where limits and usage live: `memoryStore()`, `sqlStore(...)`, `redisStore(...)` or one of your own. */
  readonly store: QuotaStore;
  /** What is counted. Default secrets, orders, containers, consumers, cas. */
  readonly kinds?: readonly string[];
  /** Limits of projects that have none of their own, by kind. Default -1, unlimited, for each. */
  readonly defaults?: Readonly<Record<string, Limit>>;
  /** How long a reservation holds unless it is settled before. Default 60,000 ms. */
  readonly ttlMs?: number;
  /** How long to wait for the store before it counts as failed. Default 5,000 ms. */
  readonly storeTimeoutMs?: number;
  /** How often, at most, a reservation also clears away expired ones of all projects. Default 60,000 ms; 0 never. */
  readonly sweepEveryMs?: number;
}

/** Limits by kind; null where the default applies. */
export type LimitEntry = Readonly<Record<string, Limit | null>>;

/** What a project has of one kind. */
export interface Usage {
  /** Committed. */
  readonly used: number;
  /** Held by reservations that are neither settled nor expired. */
  readonly reserved: number;
  /** The limit in effect. */
  readonly limit: Limit;
}

/** A page of projects that have limits of their own. */
export interface LimitList {
  readonly entries: readonly { readonly project: string; readonly limits: LimitEntry }[];
  /** How many there are in all. */
  readonly total: number;
}

const DEFAULT_TTL_MS = 60_000;
const DEFAULT_STORE_TIMEOUT_MS = 5_000;
const DEFAULT_SWEEP_EVERY_MS = 60_000;
const DEFAULT_PAGE: Page = { limit: 10, offset: 0 };

const KNOWN: Readonly<Record<keyof ProjectQuotasOptions, true>> = {
  store: true,
  kinds: true,
  defaults: true,
  ttlMs: true,
  storeTimeoutMs: true,
  sweepEveryMs: true,
};

/**
 * Limits and usage of projects, exact across processes that share a store.
 *
 * @throws TypeError for unknown options, missing stores and unusable kinds; InvalidQuota for unusable defaults
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 *
 * const quota = projectQuotas({ store: memoryStore(), kinds: ['secrets'], defaults: { secrets: 100 } });
 * const reservation = await quota.reserve('p1', { secrets: 1 });
 * await reservation.commit();
 * ```
 */
export function projectQuotas(options: ProjectQuotasOptions): ProjectQuotas {
  checkOptions('projectQuotas', options, KNOWN);
  if (!options.store) throw new TypeError('projectQuotas: a store is needed, for example memoryStore()');
  return new ProjectQuotas(options);
}

/**
 * Made by `projectQuotas()`. Every method that reaches the store rejects with QuotaStoreError where the store fails
 * or does not answer in time, and with InvalidQuota for unknown kinds, impossible numbers and unusable project ids.
 */
export class ProjectQuotas {
  readonly kinds: readonly string[];
  /** The default limit of every kind. */
  readonly defaults: Readonly<Record<string, Limit>>;
  readonly #options: ProjectQuotasOptions;
  readonly #kindSet: ReadonlySet<string>;
  readonly #defaultNumbers: Amounts;
  readonly #store: StoreCaller;
  readonly #ttlMs: number;
  readonly #sweepEveryMs: number;
  readonly #idsBegin = `${randomUUID()}.`;
  readonly #reserve = (request: ReserveRequest) => this.#store.reserve(request);
  readonly #consume = (request: ReserveRequest) => this.#store.consume(request);
  #lastId = 0;
  #sweptAt = Date.now();

  /** Use `projectQuotas()`. */
  constructor(options: ProjectQuotasOptions) {
    this.#options = options;
    this.kinds = checkKinds(options.kinds ?? KINDS);
    this.#kindSet = new Set(this.kinds);
    const defaults: Record<string, Limit> = Object.fromEntries(this.kinds.map((kind) => [kind, UNLIMITED]));
    for (const [kind, limit] of Object.entries(options.defaults ?? {})) {
      defaults[checkKind(kind, this.#kindSet)] = checkLimit(kind, limit);
    }
    this.defaults = Object.freeze(defaults);
    this.#defaultNumbers = Object.fromEntries(this.kinds.map((kind) => [kind, Number(defaults[kind])]));
    this.#store = new StoreCaller(options.store, positive('storeTimeoutMs', options, DEFAULT_STORE_TIMEOUT_MS));
    this.#ttlMs = positive('ttlMs', options, DEFAULT_TTL_MS);
    this.#sweepEveryMs = options.sweepEveryMs ?? DEFAULT_SWEEP_EVERY_MS;
  }

  /** The same kinds, defaults and times over another store: a fallback while the usual one is down. */
  withStore(store: QuotaStore): ProjectQuotas {
    return new ProjectQuotas({ ...this.#options, store });
  }

  /**
   * Takes all amounts, or none if one kind does not fit: `{ secrets: 1, orders: 2 }`.
   *
   * @throws QuotaExceeded with the kinds that do not fit
   */
  async reserve(project: string, amounts: Amounts, options: { readonly ttlMs?: number } = {}): Promise<Reservation> {
    const ttlMs = positive('ttlMs', options, this.#ttlMs);
    const request = this.#request(project, amounts, ttlMs);
    const taken = this.#take(request, this.#reserve);
    if (taken) await taken;
    return new Reservation(request, ttlMs, this.#store);
  }

  /**
   * Takes all amounts for good, or none: `reserve` and `commit` in one call, for work that cannot fail afterwards. Where
   * it fails, nothing stays counted, also when the store did the work and its answer came late or was lost: it is taken
   * back as soon as the store can be reached, for some seconds.
   *
   * @throws QuotaExceeded with the kinds that do not fit
   * @throws ReservationGone where the store cannot consume in one step, and took longer than a reservation holds
   */
  async consume(project: string, amounts: Amounts): Promise<void> {
    const request = this.#request(project, amounts, this.#ttlMs);
    const taken = this.#take(request, this.#consume);
    if (taken) await taken;
  }

  /** Gives back what was used, for things that are deleted. Usage never goes below 0. */
  async giveBack(project: string, amounts: Amounts): Promise<void> {
    const checked = checkAmounts(amounts, this.#kindSet);
    await this.#store.call((store) => store.giveBack(checkProject(project), checked));
  }

  /** Sets what is used of a kind to a count of the real things, to repair drift. Reservations are untouched. */
  async recount(project: string, kind: string, used: number): Promise<void> {
    checkKind(kind, this.#kindSet);
    await this.#store.call((store) => store.recount(checkProject(project), kind, checkCount(used)));
  }

  /** Usage and limit of every kind. */
  async usage(project: string): Promise<Readonly<Record<string, Usage>>> {
    const [counts, limits] = await Promise.all([
      this.#store.call((store) => store.counts(checkProject(project))),
      this.effective(project),
    ]);
    const usageOf = (kind: string, limit: Limit): Usage => {
      const { used, reserved } = counts[kind] ?? { used: 0, reserved: 0 };
      return { used, reserved, limit };
    };
    return Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, usageOf(kind, limit)]));
  }

  /** Whether amounts would fit now, and what would not, without taking anything. */
  async peek(project: string, amounts: Amounts): Promise<{ allowed: boolean; exceeded: readonly Excess[] }> {
    const requested = checkAmounts(amounts, this.#kindSet);
    const usage = Object.entries(await this.usage(project));
    const { exceeded } = checkLimits({
      limits: Object.fromEntries(usage.map(([kind, { limit }]) => [kind, limit])),
      usage: Object.fromEntries(usage.map(([kind, { used, reserved }]) => [kind, used + reserved])),
      requested,
    });
    return { allowed: exceeded.length === 0, exceeded };
  }

  /** The limit of every kind that applies to a project: its own, or else the default. */
  async effective(project: string): Promise<Readonly<Record<string, Limit>>> {
    const own = (await this.#store.call((store) => store.getLimits(checkProject(project)))) ?? {};
    return Object.fromEntries(this.kinds.map((kind) => [kind, limitFor(kind, own, this.defaults)]));
  }

  /** The limits a project has of its own, null where the default applies; undefined if none were ever set. */
  async get(project: string): Promise<LimitEntry | undefined> {
    const own = await this.#store.call((store) => store.getLimits(checkProject(project)));
    return own && this.#entry(own);
  }

  /** Replaces the limits of a project; kinds that are null or left out follow the default. */
  async set(project: string, limits: Readonly<Record<string, Limit | null | undefined>>): Promise<void> {
    if (limits === null || typeof limits !== 'object') throw new InvalidQuota('Limits must be an object by kind');
    const own: Record<string, Limit> = {};
    for (const kind of Object.keys(limits)) {
      const limit = limits[checkKind(kind, this.#kindSet)];
      if (limit !== null && limit !== undefined) own[kind] = checkLimit(kind, limit);
    }
    await this.#store.call((store) => store.setLimits(checkProject(project), own));
  }

  /** Lets a project follow the defaults again. False if it had no limits of its own. */
  async remove(project: string): Promise<boolean> {
    return this.#store.call((store) => store.removeLimits(checkProject(project)));
  }

  /** Projects with limits of their own, oldest entry first. Default the first ten. */
  async list(page: Partial<Page> = {}): Promise<LimitList> {
    const { limit, offset } = { ...DEFAULT_PAGE, ...page };
    const projects = await this.#store.call((store) =>
      store.listLimits({ limit: checkCount(limit), offset: checkCount(offset) }),
    );
    const entries = projects.entries.map(({ project, limits }) => ({ project, limits: this.#entry(limits) }));
    return { entries, total: projects.total };
  }

  /** Clears away expired reservations of all projects. Reservations do it now and then: see `sweepEveryMs`. */
  async sweep(): Promise<void> {
    await this.#store.call((store) => store.sweep());
  }

  /** Without a promise where the store needs none: an await costs more than all of a store in this process. */
  #take(
    request: ReserveRequest,
    ask: (request: ReserveRequest) => MaybePromise<readonly Excess[]>,
  ): Promise<void> | undefined {
    if (isNothing(request.amounts)) return undefined;
    this.#sweepIfDue();
    const exceeded = ask(request);
    if (exceeded instanceof Promise) return exceeded.then(refuseIfExceeded);
    refuseIfExceeded(exceeded);
    return undefined;
  }

  /** With an id unique in all processes: a random beginning for each of these objects, and a number. */
  #request(project: string, amounts: Amounts, ttlMs: number): ReserveRequest {
    return {
      id: this.#idsBegin + ++this.#lastId,
      project: checkProject(project),
      amounts: checkAmounts(amounts, this.#kindSet),
      defaults: this.#defaultNumbers,
      ttlMs,
    };
  }

  #sweepIfDue(): void {
    const now = Date.now();
    if (this.#sweepEveryMs === 0 || now - this.#sweptAt < this.#sweepEveryMs) return;
    this.#sweptAt = now;
    // Only tidying: a store that is down shows itself to the request that needs it.
    this.sweep().catch(() => undefined);
  }

  #entry(own: OwnLimits): LimitEntry {
    return Object.fromEntries(this.kinds.map((kind) => [kind, own[kind] ?? null]));
  }
}

function refuseIfExceeded(exceeded: readonly Excess[]): void {
  if (exceeded.length > 0) throw new QuotaExceeded(exceeded);
}

function positive<K extends string>(name: K, options: Readonly<Partial<Record<K, number>>>, fallback: number): number {
  const value = options[name] ?? fallback;
  if (!Number.isSafeInteger(value) || value <= 0) throw new TypeError(`${name} must be a whole number above 0`);
  return value;
}
