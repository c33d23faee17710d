/** The value of a limit that admits everything. Any negative number reads as this one. */
export const UNLIMITED = -1;

/** The value of a limit that admits nothing. */
export const DISABLED = 0;

/**
 * A limit: -1 unlimited, 0 disabled, n at most n.
 * A bigint stands only for values beyond `Number.MAX_SAFE_INTEGER`, which are kept exactly.
 */
export type Limit = number | bigint;

/** Whole numbers by kind: `{ secrets: 1, orders: 2 }`. */
export type Amounts = Readonly<Record<string, number>>;

/** One limit that a request does not fit in: the kind, what was asked for, what was in use, and the limit. */
export interface Excess {
  readonly kind: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** What `checkLimits` compares. Kinds without a limit are unlimited; kinds without usage are unused. */
export interface LimitCheck {
  readonly limits: Readonly<Record<string, Limit | null | undefined>>;
  readonly usage: Amounts;
  readonly requested: Amounts;
}

/**
 * The counting mode: compares what a request asks for with limits, given the usage the caller measured itself, for
 * example by a query inside the transaction that creates the thing. Synchronous and without any I/O.
 *
 * A kind of which nothing (or less) is asked never exceeds, so giving back is always possible, also above a limit
 * that was lowered.
 *
 * @returns the kinds that do not fit, in the order of `requested`; empty when all fit
 */
export function checkLimits({ limits, usage, requested }: LimitCheck): { readonly exceeded: readonly Excess[] } {
  const exceeded: Excess[] = [];
  for (const [kind, amount] of Object.entries(requested)) {
    const limit = ownValue(limits, kind) ?? UNLIMITED;
    const used = ownValue(usage, kind) ?? 0;
    if (!fits(limit, used, amount)) exceeded.push({ kind, requested: amount, used, limit: Number(limit) });
  }
  return { exceeded };
}

/**
 * Whether `amount` more fits in a limit of which `used` is taken. What a double cannot count exactly fits nowhere,
 * not even where there is no limit.
 */
export function fits(limit: Limit, used: number, amount: number): boolean {
  if (amount <= 0) return true;
  const after = used + amount;
  return Number.isSafeInteger(after) && (limit < 0 || after <= limit);
}

/** Whether amounts name nothing at all. */
export function isNothing(amounts: Amounts): boolean {
  for (const _ in amounts) return false;
  return true;
}

/** Kinds are configuration, yet a name such as `constructor` must not find what every object inherits. */
function ownValue<T>(values: Readonly<Record<string, T>>, kind: string): T | undefined {
  return Object.hasOwn(values, kind) ? values[kind] : undefined;
}
