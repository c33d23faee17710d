/**
 * A position in the primary's write-ahead log, and a time on this process's clock. All commits that were acknowledged
 * before this time precede the position.
 */
interface WalMark {
  readonly at: number;
  readonly position: bigint;
}

/** The minimum interval between two marks, in milliseconds; closer marks are merged. */
const SPACING_MS = 5;

/** Parses a position in PostgreSQL's write-ahead log, such as `16/B374D848`, to a number. */
export function walPosition(text: string): bigint {
  const [file, offset] = text.split('/');
  return (BigInt(`0x${file}`) << 32n) | BigInt(`0x${offset}`);
}

/** Recent log positions of the primary, from which a replica's replication lag is computed. */
export class WalMarks {
  readonly #retentionMs: number;
  #marks: WalMark[] = [];

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  /**
   * Adds a log position and the time at which it was queried. Calls must be in the order of the queries. Returns false
   * and discards all earlier positions if the new position precedes the last one, because another server has then
   * become the primary.
   */
  add(at: number, position: bigint): boolean {
    const last = this.#marks.at(-1);
    const isSamePrimary = last === undefined || position >= last.position;
    if (!isSamePrimary) this.#marks = [];
    const before = this.#marks.at(-2);
    if (before && at - before.at < SPACING_MS) this.#marks.pop();
    this.#marks.push({ at, position });
    const old = this.#marks.findIndex((mark) => at - mark.at <= this.#retentionMs);
    if (old > 0) this.#marks.splice(0, old);
    return isSamePrimary;
  }

  /**
   * Returns the time before which a server at this position has all commits; -Infinity if it is before the retention
   * period.
   */
  timeOf(position: bigint): number {
    return this.#marks.findLast((mark) => mark.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }
}
