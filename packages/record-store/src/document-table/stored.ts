/** What the store adds to every record. */
export interface Stored {
  /** Number given at insertion, ascending, never reused. */
  readonly seq: number;
  /** Changes with every write: two records with the same id and revision are the same to the letter. */
  readonly revision: number;
}

/** A record before the store has numbered it. */
export type New<R extends Stored> = Omit<R, keyof Stored>;
