import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import type { ConsumeRequest, StoredReservation } from '../store.js';

/** The distinct projects of a batch, numbered from 0 in order of first use. */
export class Numbers {
  readonly #numbers = new Map<string, number>();

  get all(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  of(project: string): number {
    const cached = this.#numbers.get(project);
    if (cached !== undefined) return cached;
    const number = this.#numbers.size;
    this.#numbers.set(project, number);
    return number;
  }
}

/** Redis stores a small set of short members as a list with linear search; longer members switch it to an index. */
const LONGER_THAN_LISTED = 65;

/** The member of a reservation in the set of its project. Kinds cannot contain the separators. */
export function memberOf({ id, amounts }: StoredReservation): string {
  let member = `${id.padEnd(LONGER_THAN_LISTED)}|`;
  for (const kind in amounts) member += `${kind}=${amounts[kind]},`;
  return member;
}

/** Adds kind, amount and default limit, alternating. */
export function addRequested(args: string[], { amounts, defaults }: ConsumeRequest): void {
  forEachAmount(amounts, (kind, amount) => {
    args.push(kind, String(amount), String(limitFor(kind, undefined, defaults)));
  });
}
