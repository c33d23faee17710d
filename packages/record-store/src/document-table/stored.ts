/** Fields that the store adds to every record. */
export interface Stored {
  /** An ascending number that is assigned at insertion and never reused. */
  readonly seq: number;
  /** A number that changes with every write. Records with the same id and revision are identical. */
  readonly revision: number;
}

/** A record before its insertion, without the fields that the store adds. */
export type New<R extends Stored> = Omit<R, keyof Stored>;
