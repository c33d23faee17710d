/** An address of a port, and the floating IPs that are associated with it. */
export interface FixedIp {
  readonly address: string;
  readonly version: 4 | 6;
  readonly subnetId: string;
  /** Associated floating IPs. */
  readonly floating: readonly string[];
}
