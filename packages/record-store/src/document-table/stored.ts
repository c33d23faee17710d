/** Fields that the store adds to every record. */
export interface Stored {
  /** An ascending number, which is assigned at insertion and never reused. */
  readonly seq: number;
  /** Changes with every write: two records with the same id and revision are identical. */
  readonly revision: number;
}

/** A record before its insertion. */
export type New<R extends Stored> = Omit<R, keyof Stored>;
