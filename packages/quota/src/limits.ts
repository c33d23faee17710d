/** The limit that accepts every amount. Other negative numbers also mean unlimited. */
export const UNLIMITED = -1;

/** The limit that rejects every amount. */
export const DISABLED = 0;

/**
 * A limit: -1 is unlimited, 0 is disabled, any other number is the maximum. Values above `Number.MAX_SAFE_INTEGER` are bigints,
 * so that they are exact.
 */
export type Limit = number | bigint;

/** Amounts by resource kind, such as `{ secrets: 1, orders: 2 }`. */
export type Amounts = Readonly<Record<string, number>>;

/** A limit that a request exceeds: the kind, the requested amount, the amount in use, and the limit. */
export interface ExceededLimit {
  readonly kind: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** The input of `checkLimits`. A kind without a limit is unlimited; a kind without usage counts as unused. */
export interface LimitCheck {
  readonly limits: Readonly<Record<string, Limit | null | undefined>>;
  readonly usage: Amounts;
  readonly requested: Amounts;
}

/**
 * Compares requested amounts with limits, for code that determines usage itself, for example with a query in the
 * transaction that creates the resource. Synchronous, without I/O.
 *
 * An amount of 0 or less never exceeds a limit, so that resources can be deleted after a limit was lowered.
 *
 * @returns the kinds that exceed their limit, in the order of `requested`; empty if all amounts are within their limits
 */
export function checkLimits({ limits, usage, requested }: LimitCheck): { readonly exceeded: readonly ExceededLimit[] } {
  const exceeded: ExceededLimit[] = [];
  for (const [kind, amount] of Object.entries(requested)) {
    const limit = ownValue(limits, kind) ?? UNLIMITED;
    const used = ownValue(usage, kind) ?? 0;
    if (!isWithinLimit(limit, used, amount)) exceeded.push({ kind, requested: amount, used, limit: Number(limit) });
  }
  return { exceeded };
}

/**
 * Returns whether `used + amount` is within a limit. Sums that a double cannot represent exactly are never within a
 * limit, not even within an unlimited one.
 */
export function isWithinLimit(limit: Limit, used: number, amount: number): boolean {
  if (amount <= 0) return true;
  const newUsage = used + amount;
  return Number.isSafeInteger(newUsage) && (limit < 0 || newUsage <= limit);
}

/** Returns whether validated amounts are empty. Validation has removed amounts of 0. */
export function hasNoAmounts(amounts: Amounts): boolean {
  for (const _ in amounts) return false;
  return true;
}

/** Returns the value of an own property, so that a kind such as `constructor` does not select an inherited property. */
function ownValue<T>(values: Readonly<Record<string, T>>, kind: string): T | undefined {
  return Object.hasOwn(values, kind) ? values[kind] : undefined;
}
