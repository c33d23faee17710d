/**
 * The segment of a physical network to which a virtual network is connected. Field names and values follow the network
 * service's API.
 */
export interface ProviderSegment {
  /** The type: `flat` for untagged frames, `vlan` for frames with a VLAN tag. Other types do not have an effect. */
  readonly networkType: string;
  /** The physical network's name, which each host maps to a network device. */
  readonly physicalNetwork: string | null;
  /** The VLAN tag, from 1 to 4094. */
  readonly segmentationId: number | null;
}

/** Returns whether a network is connected to a physical network instead of using tunnels between hosts. */
export function usesPhysicalNetwork({ provider }: { readonly provider?: ProviderSegment | null }): boolean {
  return provider?.networkType === 'flat' || provider?.networkType === 'vlan';
}
