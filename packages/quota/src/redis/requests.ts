import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import type { ConsumeRequest, StoredReservation } from '../store.js';

/** The distinct projects in a batch, numbered from 0 in order of first use. */
export class ProjectNumbers {
  readonly #numbers = new Map<string, number>();

  get all(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  numberOf(project: string): number {
    const existingNumber = this.#numbers.get(project);
    if (existingNumber !== undefined) return existingNumber;
    const number = this.#numbers.size;
    this.#numbers.set(project, number);
    return number;
  }
}

/**
 * The minimum member length for which Redis always indexes a sorted set. Redis stores small sets of shorter members as
 * lists, which it searches linearly.
 */
const MIN_INDEXED_LENGTH = 65;

/** Returns the member that represents a reservation in the sorted set of its project. Kinds cannot contain its separators. */
export function memberOf({ id, amounts }: StoredReservation): string {
  let member = `${id.padEnd(MIN_INDEXED_LENGTH)}|`;
  for (const kind in amounts) member += `${kind}=${amounts[kind]},`;
  return member;
}

/** Adds the name, amount and default limit of each requested kind to the script arguments. */
export function addRequestedAmounts(args: string[], { amounts, defaults }: ConsumeRequest): void {
  forEachAmount(amounts, (kind, amount) => {
    args.push(kind, String(amount), String(limitFor(kind, undefined, defaults)));
  });
}
