/** An address of a port, and the floating addresses that lead to it. */
export interface FixedIp {
  readonly address: string;
  readonly version: 4 | 6;
  readonly subnetId: string;
  /** Floating addresses that lead to this one. */
  readonly floating: readonly string[];
}
