/** A port's address on its network, with the associated floating IPs. */
export interface FixedIp {
  readonly address: string;
  readonly version: 4 | 6;
  readonly subnetId: string;
  /** The addresses of the floating IPs that are associated with this address. */
  readonly floating: readonly string[];
}
