import type { Amounts, ExceededLimit, Limit } from './limits.js';

/** The return type of store methods: a value for in-process stores, a promise for others. */
export type MaybePromise<T> = T | Promise<T>;

/** A reservation that is passed to a store. Ids are unique, amounts are above 0, and neither ever changes. */
export interface StoredReservation {
  readonly id: string;
  readonly project: string;
  readonly amounts: Amounts;
}

/** A request to add amounts to the used amounts, if the limits allow it. */
export interface ConsumeRequest extends StoredReservation {
  /** The default limits, for projects without their own limits; -1 is unlimited. Contains at least the kinds in `amounts`. */
  readonly defaults: Amounts;
}

/** A request to reserve amounts for a limited time, if the limits allow it. */
export interface ReserveRequest extends ConsumeRequest {
  /** Time-to-live of the reservation in milliseconds. */
  readonly ttlMs: number;
}

/**
 * The amounts of one resource kind that were committed (`used`), and those in reservations that are neither settled nor
 * expired (`reserved`).
 */
export interface Count {
  readonly used: number;
  readonly reserved: number;
}

/** A project's own limits by resource kind. For missing kinds, the default applies. */
export type OwnLimits = Readonly<Record<string, Limit>>;

/** A project with its own limits. */
export interface ProjectLimits {
  readonly project: string;
  readonly limits: OwnLimits;
}

/** The size and offset of a list page. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Stores limits and usage. Every method is atomic: it behaves as if it ran alone, regardless of concurrent calls,
 * including those in other processes. A method that fails throws or rejects with any error.
 *
 * Arguments are validated before each call: projects are well-formed strings of 1 to 512 UTF-16 code units without NUL;
 * kinds match `/^[A-Za-z][A-Za-z0-9_.-]{0,62}$/` and are not names of properties that every object inherits, such as
 * `constructor`; amounts and counts are safe integers. `testQuotaStore` in `@apistrata/quota/testing` tests an implementation
 * against this contract.
 */
export interface QuotaStore {
  /**
   * Reserves all amounts, or none if one kind exceeds its limit: `used + reserved + amount` must not exceed the
   * project's own limit of the kind, or the default if the project has none. Expired reservations do not count.
   *
   * @returns the kinds that exceed their limit, with the sum of used and reserved as `used`; empty if all amounts were reserved
   */
  reserve(request: ReserveRequest): MaybePromise<readonly ExceededLimit[]>;

  /**
   * Optional. Adds all amounts to the used amounts, or none, with the same rule and result as `reserve`. If the call
   * fails, nothing may remain counted: a store whose results can be lost must determine whether the call was executed,
   * and undo it. Without this method, `ProjectQuotas.consume()` reserves and commits, which is safe even if results are
   * lost.
   */
  consume?(request: ConsumeRequest): MaybePromise<readonly ExceededLimit[]>;

  /**
   * Ends a reservation: `commit` converts its amounts to used amounts, `release` frees them. Returns false if the reservation is
   * unknown or expired.
   */
  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean>;

  /** Sets the expiry of a reservation to `ttlMs` from now. Returns false if the reservation is unknown or expired. */
  renew(reservation: StoredReservation, ttlMs: number): MaybePromise<boolean>;

  /** Returns the usage of a project. Kinds that the project never used may be missing. The call has no observable effect. */
  counts(project: string): MaybePromise<Readonly<Record<string, Count>>>;

  /** Subtracts amounts from `used`, which never falls below 0. Reservations are unchanged. */
  release(project: string, amounts: Amounts): MaybePromise<void>;

  /** Sets the `used` amount of one kind. Reservations are unchanged. */
  recount(project: string, kind: string, used: number): MaybePromise<void>;

  /** Returns the project's own limits, or undefined if none were set. An empty record counts as set. */
  getLimits(project: string): MaybePromise<OwnLimits | undefined>;

  /** Replaces the project's own limits. The project keeps its position in the list. */
  setLimits(project: string, limits: OwnLimits): MaybePromise<void>;

  /** Removes the project's own limits. Returns false if the project had none. Usage is unchanged. */
  removeLimits(project: string): MaybePromise<boolean>;

  /**
   * Returns a page of the projects that have their own limits, in the order in which the limits were first set, and the
   * total number of these projects.
   */
  listLimits(page: Page): MaybePromise<{ readonly entries: readonly ProjectLimits[]; readonly total: number }>;

  /** Deletes expired reservations of all projects. The call frees space and has no observable effect. */
  sweep(): MaybePromise<void>;
}
