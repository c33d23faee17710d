/** Where the primary was in its log at a moment of this process's clock: all commits acknowledged before are before it. */
interface WalMark {
  readonly at: number;
  readonly position: bigint;
}

/** Marks closer to each other than this, in milliseconds, are of no use. */
const SPACING_MS = 5;

/** A position in PostgreSQL's write-ahead log, such as `16/B374D848`, as a number. */
export function walPosition(text: string): bigint {
  const [file, offset] = text.split('/');
  return (BigInt(`0x${file}`) << 32n) | BigInt(`0x${offset}`);
}

/** Where the primary was lately, to tell how late somebody is who has got to a position. */
export class WalMarks {
  readonly #keptMs: number;
  #marks: WalMark[] = [];

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /**
   * Notes a position that was asked for at a moment, in the order of asking. False where it is behind the one before:
   * another server has become the primary, and nothing that was known of positions holds.
   */
  add(at: number, position: bigint): boolean {
    const last = this.#marks.at(-1);
    const goesOn = last === undefined || position >= last.position;
    if (!goesOn) this.#marks = [];
    const before = this.#marks.at(-2);
    if (before && at - before.at < SPACING_MS) this.#marks.pop();
    this.#marks.push({ at, position });
    const old = this.#marks.findIndex((mark) => at - mark.at <= this.#keptMs);
    if (old > 0) this.#marks.splice(0, old);
    return goesOn;
  }

  /** The moment of which a server that has got to a position has everything; -Infinity where that is too long ago. */
  momentOf(position: bigint): number {
    return this.#marks.findLast((mark) => mark.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }
}
