/** What a driver reports about its computer. */
export interface HostReport {
  /** Why servers cannot start on it, in one line for administrators; null: they can. */
  readonly problem: string | null;
}
