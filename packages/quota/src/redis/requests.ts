import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import type { ConsumeRequest, StoredReservation } from '../store.js';

/** The distinct projects of a batch, numbered from 0 in order of first use. */
export class ProjectNumbers {
  readonly #numbers = new Map<string, number>();

  get all(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  numberOf(project: string): number {
    const cached = this.#numbers.get(project);
    if (cached !== undefined) return cached;
    const number = this.#numbers.size;
    this.#numbers.set(project, number);
    return number;
  }
}

/** The length from which Redis indexes a set. It stores small sets of shorter members as lists, which are searched linearly. */
const MIN_INDEXED_LENGTH = 65;

/** Returns the member of a reservation in the set of its project. Kinds cannot contain the separators. */
export function memberOf({ id, amounts }: StoredReservation): string {
  let member = `${id.padEnd(MIN_INDEXED_LENGTH)}|`;
  for (const kind in amounts) member += `${kind}=${amounts[kind]},`;
  return member;
}

/** Adds the kind, the amount and the default limit of each kind to the arguments. */
export function addRequested(args: string[], { amounts, defaults }: ConsumeRequest): void {
  forEachAmount(amounts, (kind, amount) => {
    args.push(kind, String(amount), String(limitFor(kind, undefined, defaults)));
  });
}
