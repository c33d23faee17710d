import { randomUUID } from 'node:crypto';
import { checkOptions } from './check-options.js';
import { InvalidQuota, QuotaExceeded } from './errors.js';
import { checkAmounts, checkCount, checkKind, checkKinds, checkLimit, checkProject } from './inputs.js';
import { limitFor } from './limit-for.js';
import { type Amounts, checkLimits, type ExceededLimit, hasNoAmounts, type Limit, UNLIMITED } from './limits.js';
import { presetOf, type QuotaPreset } from './presets.js';
import { PROJECT_QUOTAS_OPTIONS, type ProjectQuotasOptions } from './project-quotas-options.js';
import { Reservation, type ReservationCalls } from './reservation.js';
import type { MaybePromise, OwnLimits, Page, QuotaStore, ReserveRequest } from './store.js';
import { StoreCaller } from './store-caller.js';
import { checkThresholds, ThresholdWatch } from './thresholds.js';

/** The limits of a project by resource kind; null if the default applies. */
export type LimitEntry = Readonly<Record<string, Limit | null>>;

/** The usage and the limit of one resource kind in a project. */
export interface Usage {
  /** The committed amount. */
  readonly used: number;
  /** The amount in reservations that are neither settled nor expired. */
  readonly reserved: number;
  /** The limit that applies: the project's own limit, or the default. */
  readonly limit: Limit;
}

/** A page of the projects that have their own limits. */
export interface LimitList {
  readonly entries: readonly { readonly project: string; readonly limits: LimitEntry }[];
  /** The total number of entries on all pages. */
  readonly total: number;
}

const DEFAULT_TTL_MS = 60_000;
const DEFAULT_STORE_TIMEOUT_MS = 5_000;
const DEFAULT_SWEEP_INTERVAL_MS = 60_000;
const DEFAULT_PAGE: Page = { limit: 10, offset: 0 };

/**
 * Creates quotas: limits and usage of projects, which are exact across all processes that share a store.
 *
 * @throws TypeError for unknown options, a missing store and invalid kinds; InvalidQuota for invalid defaults
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
  checkOptions('projectQuotas', options, PROJECT_QUOTAS_OPTIONS);
  if (!options.store) throw new TypeError('projectQuotas: a store is required, for example memoryStore()');
  return new ProjectQuotas(options);
}

/**
 * The limits and usage of projects, created by `projectQuotas()`. Methods that call the store reject with
 * QuotaStoreError if the store fails or exceeds its timeout, and with InvalidQuota for unknown kinds, invalid numbers
 * and invalid project ids.
 */
export class ProjectQuotas {
  /** The resource kinds that are counted. */
  readonly kinds: readonly string[];
  /** The default limit of every resource kind. */
  readonly defaults: Readonly<Record<string, Limit>>;
  /** Internal: the defaults of `enforceQuota()`. */
  readonly preset: QuotaPreset;
  readonly #options: ProjectQuotasOptions;
  readonly #kindSet: ReadonlySet<string>;
  readonly #defaultNumbers: Amounts;
  readonly #store: StoreCaller;
  readonly #reservationCalls: ReservationCalls;
  readonly #watch: ThresholdWatch | undefined;
  readonly #ttlMs: number;
  readonly #sweepIntervalMs: number;
  readonly #idPrefix = `${randomUUID()}.`;
  readonly #reserve = (request: ReserveRequest) => this.#store.reserve(request);
  readonly #consume = (request: ReserveRequest) => this.#store.consume(request);
  #lastId = 0;
  #sweptAt = Date.now();

  /** Internal: call `projectQuotas()` instead. */
  constructor(options: ProjectQuotasOptions) {
    this.#options = options;
    this.preset = presetOf(options.preset);
    this.kinds = checkKinds(options.kinds ?? this.preset.kinds ?? Object.keys(options.defaults ?? {}));
    this.#kindSet = new Set(this.kinds);
    const defaults: Record<string, Limit> = Object.fromEntries(this.kinds.map((kind) => [kind, UNLIMITED]));
    for (const [kind, limit] of Object.entries(options.defaults ?? {})) {
      defaults[checkKind(kind, this.#kindSet)] = checkLimit(kind, limit);
    }
    this.defaults = Object.freeze(defaults);
    this.#defaultNumbers = Object.fromEntries(this.kinds.map((kind) => [kind, Number(defaults[kind])]));
    this.#store = new StoreCaller(options.store, positiveInteger('storeTimeoutMs', options, DEFAULT_STORE_TIMEOUT_MS));
    const thresholds = checkThresholds(options.thresholds);
    const usage = (project: string) => this.usage(project);
    this.#watch = options.onThreshold && new ThresholdWatch(thresholds, { usage, listener: options.onThreshold });
    this.#reservationCalls = this.#watch?.watchCommits(this.#store) ?? this.#store;
    this.#ttlMs = positiveInteger('ttlMs', options, DEFAULT_TTL_MS);
    this.#sweepIntervalMs = options.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS;
  }

  /** Returns quotas with the same options and a different store, for example a fallback during an outage. */
  withStore(store: QuotaStore): ProjectQuotas {
    return new ProjectQuotas({ ...this.#options, store });
  }

  /**
   * Reserves all amounts, such as `{ secrets: 1, orders: 2 }`, or none if one kind exceeds its limit.
   *
   * @throws QuotaExceeded with the kinds that exceed their limit
   */
  async reserve(project: string, amounts: Amounts, options: { readonly ttlMs?: number } = {}): Promise<Reservation> {
    const ttlMs = positiveInteger('ttlMs', options, this.#ttlMs);
    const request = this.#request(project, amounts, ttlMs);
    const reservation = this.#send(request, this.#reserve);
    if (reservation) await reservation;
    return new Reservation(request, ttlMs, this.#reservationCalls);
  }

  /**
   * Adds all amounts to the used amounts, or none of them. This is `reserve` and `commit` in one call, for work that
   * cannot fail afterwards. If the call fails, no amount remains counted: if the store has committed but its response
   * was late or lost, this method retries for some seconds to release the amounts.
   *
   * @throws QuotaExceeded with the kinds that exceed their limit
   * @throws ReservationEnded if the store has no `consume` and the calls took longer than the time-to-live of a reservation
   */
  async consume(project: string, amounts: Amounts): Promise<void> {
    const request = this.#request(project, amounts, this.#ttlMs);
    const consumption = this.#send(request, this.#consume);
    if (consumption) await consumption;
    this.#watch?.checkInBackground(project, request.amounts);
  }

  /** Subtracts amounts from the used amounts, for resources that were deleted. Usage never falls below 0. */
  async release(project: string, amounts: Amounts): Promise<void> {
    const checkedAmounts = checkAmounts(amounts, this.#kindSet);
    await this.#store.call((store) => store.release(checkProject(project), checkedAmounts));
    this.#watch?.checkInBackground(project, checkedAmounts, -1);
  }

  /** Sets the used amount of a kind, for example to the number of existing resources after drift. Reservations are unchanged. */
  async recount(project: string, kind: string, used: number): Promise<void> {
    checkKind(kind, this.#kindSet);
    await this.#store.call((store) => store.recount(checkProject(project), kind, checkCount(used)));
    // The previous amount is unknown, so the first recount in a process reports all thresholds that the new amount has reached.
    this.#watch?.checkInBackground(project, { [kind]: Infinity });
  }

  /** Returns the usage and the limit of every resource kind in a project. */
  async usage(project: string): Promise<Readonly<Record<string, Usage>>> {
    const [counts, limits] = await Promise.all([
      this.#store.call((store) => store.counts(checkProject(project))),
      this.effectiveLimits(project),
    ]);
    const usageOf = (kind: string, limit: Limit): Usage => {
      const { used, reserved } = counts[kind] ?? { used: 0, reserved: 0 };
      return { used, reserved, limit };
    };
    return Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, usageOf(kind, limit)]));
  }

  /**
   * Returns whether the amounts currently fit within the limits, and the kinds that would exceed their limit. Does not
   * reserve anything.
   */
  async peek(project: string, amounts: Amounts): Promise<{ allowed: boolean; exceeded: readonly ExceededLimit[] }> {
    const requested = checkAmounts(amounts, this.#kindSet);
    const usage = Object.entries(await this.usage(project));
    const { exceeded } = checkLimits({
      limits: Object.fromEntries(usage.map(([kind, { limit }]) => [kind, limit])),
      usage: Object.fromEntries(usage.map(([kind, { used, reserved }]) => [kind, used + reserved])),
      requested,
    });
    return { allowed: exceeded.length === 0, exceeded };
  }

  /** Returns the limit of every resource kind that applies to a project: its own limit, or the default. */
  async effectiveLimits(project: string): Promise<Readonly<Record<string, Limit>>> {
    const own = (await this.#store.call((store) => store.getLimits(checkProject(project)))) ?? {};
    return Object.fromEntries(this.kinds.map((kind) => [kind, limitFor(kind, own, this.defaults)]));
  }

  /** Returns a project's own limits, with null for kinds that use the default; undefined if the project has no own limits. */
  async get(project: string): Promise<LimitEntry | undefined> {
    const own = await this.#store.call((store) => store.getLimits(checkProject(project)));
    return own && this.#entry(own);
  }

  /** Replaces a project's own limits. Kinds that are null or missing use the default. */
  async set(project: string, limits: Readonly<Record<string, Limit | null | undefined>>): Promise<void> {
    if (limits === null || typeof limits !== 'object')
      throw new InvalidQuota('Limits must be an object that maps kinds to limits');
    const own: Record<string, Limit> = {};
    for (const kind of Object.keys(limits)) {
      const limit = limits[checkKind(kind, this.#kindSet)];
      if (limit !== null && limit !== undefined) own[kind] = checkLimit(kind, limit);
    }
    await this.#store.call((store) => store.setLimits(checkProject(project), own));
  }

  /** Removes a project's own limits, so that the defaults apply. Returns false if the project had no own limits. */
  async remove(project: string): Promise<boolean> {
    return this.#store.call((store) => store.removeLimits(checkProject(project)));
  }

  /**
   * Returns a page of the projects that have their own limits, in the order in which the limits were set. Default: the
   * first ten projects.
   */
  async list(page: Partial<Page> = {}): Promise<LimitList> {
    const { limit, offset } = { ...DEFAULT_PAGE, ...page };
    const projects = await this.#store.call((store) =>
      store.listLimits({ limit: checkCount(limit), offset: checkCount(offset) }),
    );
    const entries = projects.entries.map(({ project, limits }) => ({ project, limits: this.#entry(limits) }));
    return { entries, total: projects.total };
  }

  /** Removes expired reservations of all projects. `reserve` and `consume` do this periodically: see `sweepIntervalMs`. */
  async sweep(): Promise<void> {
    await this.#store.call((store) => store.sweep());
  }

  /**
   * Sends a request to the store. Returns synchronously if the store does, because `await` would cost more than a
   * memory store call.
   */
  #send(
    request: ReserveRequest,
    send: (request: ReserveRequest) => MaybePromise<readonly ExceededLimit[]>,
  ): Promise<void> | undefined {
    if (hasNoAmounts(request.amounts)) return undefined;
    this.#sweepIfDue();
    const exceeded = send(request);
    if (exceeded instanceof Promise) return exceeded.then(rejectIfExceeded);
    rejectIfExceeded(exceeded);
    return undefined;
  }

  /** Creates a request. Its id is a random prefix of this instance followed by a counter, so it is unique across processes. */
  #request(project: string, amounts: Amounts, ttlMs: number): ReserveRequest {
    return {
      id: this.#idPrefix + ++this.#lastId,
      project: checkProject(project),
      amounts: checkAmounts(amounts, this.#kindSet),
      defaults: this.#defaultNumbers,
      ttlMs,
    };
  }

  #sweepIfDue(): void {
    const now = Date.now();
    if (this.#sweepIntervalMs === 0 || now - this.#sweptAt < this.#sweepIntervalMs) return;
    this.#sweptAt = now;
    // Errors are ignored, because requests that need the store report the same errors while it is unavailable.
    this.sweep().catch(() => undefined);
  }

  #entry(own: OwnLimits): LimitEntry {
    return Object.fromEntries(this.kinds.map((kind) => [kind, own[kind] ?? null]));
  }
}

function rejectIfExceeded(exceeded: readonly ExceededLimit[]): void {
  if (exceeded.length > 0) throw new QuotaExceeded(exceeded);
}

function positiveInteger<K extends string>(
  name: K,
  options: Readonly<Partial<Record<K, number>>>,
  defaultValue: number,
): number {
  const value = options[name] ?? defaultValue;
  if (!Number.isSafeInteger(value) || value <= 0) throw new TypeError(`${name} must be an integer above 0`);
  return value;
}
