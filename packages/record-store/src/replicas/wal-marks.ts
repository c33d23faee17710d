/**
 * A position of the primary's log, with a time of this process's clock: all commits that were acknowledged before this
 * time precede the position.
 */
interface WalMark {
  readonly at: number;
  readonly position: bigint;
}

/** Minimum interval between marks, in milliseconds; closer marks are merged. */
const SPACING_MS = 5;

/** Parses a position in PostgreSQL's write-ahead log, such as `16/B374D848`, to a number. */
export function walPosition(text: string): bigint {
  const [file, offset] = text.split('/');
  return (BigInt(`0x${file}`) << 32n) | BigInt(`0x${offset}`);
}

/** Recent positions of the primary, from which the replication lag of a replica is computed. */
export class WalMarks {
  readonly #retentionMs: number;
  #marks: WalMark[] = [];

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  /**
   * Adds a position that was queried at a time; calls are in the order of the queries. Returns false if it precedes
   * the last position: another server has become the primary, and all earlier positions are discarded.
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
   * Returns the time up to which a server that has reached a position has all writes; -Infinity if it is before the
   * retention period.
   */
  timeOf(position: bigint): number {
    return this.#marks.findLast((mark) => mark.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }
}
