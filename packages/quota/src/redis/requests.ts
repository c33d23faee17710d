import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import type { ConsumeRequest, Hold } from '../store.js';

/** The projects of a batch, each once, numbered from 0 in the order in which they come. */
export class Numbers {
  readonly #numbers = new Map<string, number>();

  get all(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  of(project: string): number {
    const known = this.#numbers.get(project);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(project, number);
    return number;
  }
}

/** Redis keeps a small set of short members as a list that it searches from one end; longer ones it finds at once. */
const LONGER_THAN_LISTED = 65;

/** How a reservation is written in the set of its project: kinds hold none of the marks. */
export function memberOf({ id, amounts }: Hold): string {
  let member = `${id.padEnd(LONGER_THAN_LISTED)}|`;
  for (const kind in amounts) member += `${kind}=${amounts[kind]},`;
  return member;
}

/** Adds kind, amount and default limit by turns. */
export function addWanted(args: string[], { amounts, defaults }: ConsumeRequest): void {
  forEachAmount(amounts, (kind, amount) => {
    args.push(kind, String(amount), String(limitFor(kind, undefined, defaults)));
  });
}
