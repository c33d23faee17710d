/** The segment of a physical network to which a network is connected, with the names of the network service. */
export interface ProviderSegment {
  /** `flat`: untagged frames; `vlan`: frames with a tag. Others are stored but have no effect. */
  readonly networkType: string;
  /** Name of the physical network, which the hosts map to their devices. */
  readonly physicalNetwork: string | null;
  /** The tag of a VLAN, 1 to 4094. */
  readonly segmentationId: number | null;
}

/** Returns whether guests of a network are connected to a physical network, without tunnels between hosts. */
export function isPhysical({ provider }: { readonly provider?: ProviderSegment | null }): boolean {
  return provider?.networkType === 'flat' || provider?.networkType === 'vlan';
}
