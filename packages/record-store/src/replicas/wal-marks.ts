/**
 * A position in the primary's write-ahead log, and a time on this process's clock. All commits that were acknowledged
 * before this time precede the position.
 */
interface WalMark {
  readonly at: number;
  readonly position: bigint;
}

/** The minimum interval between two marks, in milliseconds; closer marks are merged. */
const MIN_MARK_INTERVAL_MS = 5;

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
   * and discards all earlier positions if the new position precedes the last one, because this means that another
   * server has become the primary.
   */
  add(at: number, position: bigint): boolean {
    const lastMark = this.#marks.at(-1);
    const isSamePrimary = lastMark === undefined || position >= lastMark.position;
    if (!isSamePrimary) this.#marks = [];
    const markBeforeLast = this.#marks.at(-2);
    if (markBeforeLast && at - markBeforeLast.at < MIN_MARK_INTERVAL_MS) this.#marks.pop();
    this.#marks.push({ at, position });
    const firstRecentIndex = this.#marks.findIndex((mark) => at - mark.at <= this.#retentionMs);
    if (firstRecentIndex > 0) this.#marks.splice(0, firstRecentIndex);
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
