import type { Amounts, Excess, Limit } from './limits.js';

/** The return type of a store: synchronous for in-process stores, a promise for others. */
export type MaybePromise<T> = T | Promise<T>;

/** A reservation as a store receives it. Ids are unique, amounts are above 0, and both never change. */
export interface StoredReservation {
  readonly id: string;
  readonly project: string;
  readonly amounts: Amounts;
}

/** Amounts to take if the limits allow it. */
export interface ConsumeRequest extends StoredReservation {
  /** The default limits of at least the kinds in `amounts`, for projects without their own limit; -1 is unlimited. */
  readonly defaults: Amounts;
}

/** Amounts to take for a limited time. */
export interface ReserveRequest extends ConsumeRequest {
  /** Time-to-live of the reservation in milliseconds. */
  readonly ttlMs: number;
}

/** The amounts in use of one kind: `used` permanently, `reserved` by reservations that are neither settled nor expired. */
export interface Count {
  readonly used: number;
  readonly reserved: number;
}

/** A project's own limits by kind; missing kinds follow the default. */
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
 * A store of limits and usage. Every method is atomic: it behaves as if it ran alone, regardless of concurrent calls in other
 * processes. A method that fails throws or rejects with any error.
 *
 * Arguments are validated before each call: projects are well-formed strings of 1 to 512 UTF-16 code units without NUL;
 * kinds match `/^[A-Za-z][A-Za-z0-9_.-]{0,62}$/` and are not names of properties that every object inherits, such as
 * `constructor`; amounts and counts are safe integers. `testQuotaStore` in `@apistrata/quota/testing` tests an implementation
 * against this contract.
 */
export interface QuotaStore {
  /**
   * Takes all amounts, or none if one kind exceeds its limit: `used + reserved + amount` must not exceed the project's own limit
   * of the kind, or the default if the project has none. Expired reservations do not count.
   *
   * @returns the kinds that exceed their limit, with `used` as the sum of used and reserved; empty if all were taken
   */
  reserve(request: ReserveRequest): MaybePromise<readonly Excess[]>;

  /**
   * Optional. Takes all amounts permanently, or none, with the rule and result of `reserve`. If the call fails, nothing may
   * remain counted: a store whose results can be lost must determine whether the call was executed, and undo it. Without this
   * method, `ProjectQuotas.consume()` reserves and commits, which is safe even if results are lost.
   */
  consume?(request: ConsumeRequest): MaybePromise<readonly Excess[]>;

  /**
   * Ends a reservation: `commit` converts its amounts to used amounts, `release` frees them. Returns false if the reservation is
   * unknown or expired.
   */
  settle(hold: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean>;

  /** Sets the expiry of a reservation to `ttlMs` from now. Returns false if the reservation is unknown or expired. */
  renew(hold: StoredReservation, ttlMs: number): MaybePromise<boolean>;

  /** Returns the usage of a project. Kinds that it never used may be missing. The call has no observable effect. */
  counts(project: string): MaybePromise<Readonly<Record<string, Count>>>;

  /** Lowers `used` by the amounts, but not below 0. Reservations are unchanged. */
  release(project: string, amounts: Amounts): MaybePromise<void>;

  /** Sets `used` of one kind. Reservations are unchanged. */
  recount(project: string, kind: string, used: number): MaybePromise<void>;

  /** Returns the project's own limits, or undefined if none were set. An empty record counts as set. */
  getLimits(project: string): MaybePromise<OwnLimits | undefined>;

  /** Replaces the project's own limits. Keeps the position of the project in the list. */
  setLimits(project: string, limits: OwnLimits): MaybePromise<void>;

  /** Removes the project's own limits. Returns false if it had none. Usage is unchanged. */
  removeLimits(project: string): MaybePromise<boolean>;

  /** Returns a page of the projects that have their own limits, in the order in which these were first set, and the total number. */
  listLimits(page: Page): MaybePromise<{ readonly entries: readonly ProjectLimits[]; readonly total: number }>;

  /** Deletes expired reservations of all projects. The call frees space and has no observable effect. */
  sweep(): MaybePromise<void>;
}
