import type { Amounts, Excess, Limit } from './limits.js';

/** What a store may answer with: in-process stores answer at once, the others with a promise. */
export type MaybePromise<T> = T | Promise<T>;

/** A reservation as the store sees it. Ids are unique; kinds and amounts never change; amounts are above 0. */
export interface Hold {
  readonly id: string;
  readonly project: string;
  readonly amounts: Amounts;
}

/** Amounts to be taken, if the limits allow it. */
export interface ConsumeRequest extends Hold {
  /** The limit of each kind, at least those in `amounts`, where the project has none of its own; -1 is unlimited. */
  readonly defaults: Amounts;
}

/** Amounts to be taken for a time. */
export interface ReserveRequest extends ConsumeRequest {
  /** Milliseconds for which the reservation holds. */
  readonly ttlMs: number;
}

/** What is in use of one kind: `used` for good, `reserved` by reservations that are neither settled nor expired. */
export interface Count {
  readonly used: number;
  readonly reserved: number;
}

/** The limits a project has of its own, by kind; kinds that are left out follow the default. */
export type OwnLimits = Readonly<Record<string, Limit>>;

/** A project with limits of its own. */
export interface ProjectLimits {
  readonly project: string;
  readonly limits: OwnLimits;
}

/** A part of a list: so many, from there on. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Where limits and usage live. Every method is one atomic step: whatever other processes do at the same time, it sees
 * and leaves the store as if it had run alone. A failing method throws (or rejects) with whatever error the store has.
 *
 * Arguments are checked before they get here: projects are well-formed strings of 1 to 512 UTF-16 units without NUL,
 * kinds match `/^[A-Za-z][A-Za-z0-9_.-]{0,62}$/` and are no names that every object inherits (`constructor`), amounts and
 * counts are safe integers.
 * `testQuotaStore` in `@apistrata/quota/testing` holds an implementation against this contract.
 */
export interface QuotaStore {
  /**
   * Takes all amounts, or none if one kind does not fit: `used + reserved + amount` must not exceed the project's own
   * limit, or else the default. Expired reservations count no more.
   *
   * @returns the kinds that do not fit, with `used` as used and reserved together; empty when all was taken
   */
  reserve(request: ReserveRequest): MaybePromise<readonly Excess[]>;

  /**
   * Optional. Takes all amounts for good, or none, by the same rule and with the same answer. Where it fails, nothing may
   * stay counted: a store whose answers can be lost finds out whether it was done, and takes it back. Without this method
   * `ProjectQuotas.consume()` reserves and commits, which needs no such care.
   */
  consume?(request: ConsumeRequest): MaybePromise<readonly Excess[]>;

  /** Ends a reservation: `commit` turns what it holds into used, `release` frees it. False if it is gone or expired. */
  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean>;

  /** Lets a reservation hold for `ttlMs` from now. False if it is gone or expired. */
  renew(hold: Hold, ttlMs: number): MaybePromise<boolean>;

  /** What the project uses; kinds it never used may be missing. Changes nothing that can be observed. */
  counts(project: string): MaybePromise<Readonly<Record<string, Count>>>;

  /** Lowers `used` by the amounts, but not below 0. Reservations are untouched. */
  giveBack(project: string, amounts: Amounts): MaybePromise<void>;

  /** Sets `used` of one kind. Reservations are untouched. */
  recount(project: string, kind: string, used: number): MaybePromise<void>;

  /** The project's own limits; undefined if none were set (setting an empty record counts as set). */
  getLimits(project: string): MaybePromise<OwnLimits | undefined>;

  /** Replaces the project's own limits. The place of the project in the list stays. */
  setLimits(project: string, limits: OwnLimits): MaybePromise<void>;

  /** Forgets the project's own limits. False if it had none. Usage is untouched. */
  removeLimits(project: string): MaybePromise<boolean>;

  /** Projects with limits of their own, in the order they first got them, and how many there are in all. */
  listLimits(page: Page): MaybePromise<{ readonly entries: readonly ProjectLimits[]; readonly total: number }>;

  /** Clears away expired reservations of all projects. It never changes an answer; it only frees space. */
  sweep(): MaybePromise<void>;
}
