import { cidrOf, contains, formatIp, type IpAddress, ipOf, parseIp } from '../ip-address.js';
import type { AddressRange, SubnetRecord } from './network-tables.js';

/**
 * The highest slot, which fits into 31 bits. Addresses beyond this slot are allocated only if a request specifies them.
 */
const MAX_SLOT = 2 ** 31 - 2;

/** A subnet's addresses as slot numbers. A slot is the distance between an address and the subnet's first address. */
export interface SubnetSlots {
  readonly pools: readonly { readonly from: number; readonly to: number }[];
  /** The gateway's slot, which is allocated only if a request specifies the address; -1 without a gateway. */
  readonly gateway: number;
  /**
   * Returns an address's slot. Returns null for an address beyond the highest slot, and undefined for an address
   * outside the subnet and for the subnet's network and broadcast addresses.
   */
  slotOf(address: IpAddress): number | null | undefined;
  addressOf(slot: number): string;
}

const slotsBySubnet = new WeakMap<object, SubnetSlots>();

/** Returns a subnet's slots. The result is cached per subnet record. */
export function subnetSlots(subnet: SubnetRecord): SubnetSlots {
  let slots = slotsBySubnet.get(subnet);
  if (!slots) {
    slots = computeSlots(subnet);
    slotsBySubnet.set(subnet, slots);
  }
  return slots;
}

function computeSlots(subnet: Pick<SubnetRecord, 'cidr' | 'gatewayIp' | 'allocationPools'>): SubnetSlots {
  const cidr = cidrOf(subnet.cidr);
  const { version, first, last, prefix } = cidr;
  const distance = (text: string) => Number(ipOf(text).value - first);
  return {
    pools: subnet.allocationPools
      .map(({ start, end }) => ({ from: distance(start), to: Math.min(distance(end), MAX_SLOT) }))
      .sort((a, b) => a.from - b.from),
    gateway: subnet.gatewayIp === null ? -1 : distance(subnet.gatewayIp),
    slotOf(address) {
      if (!contains(cidr, address)) return undefined;
      const hasReservedEnds = version === 4 && prefix < 31;
      if (hasReservedEnds && (address.value === first || address.value === last)) return undefined;
      const slot = address.value - first;
      return slot <= MAX_SLOT ? Number(slot) : null;
    },
    addressOf: (slot) => formatIp({ version, value: first + BigInt(slot) }),
  };
}

/** Returns a subnet's default allocation pools: all addresses except the reserved addresses and the gateway. */
export function defaultPools(cidrText: string, gatewayIp: string | null): readonly AddressRange[] {
  const { version, first, last, prefix } = cidrOf(cidrText);
  const hasReservedEnds = version === 4 && prefix < 31;
  const start = hasReservedEnds || (version === 6 && prefix < 127) ? first + 1n : first;
  const end = hasReservedEnds ? last - 1n : last;
  const gateway = gatewayIp === null ? undefined : parseIp(gatewayIp)?.value;
  const ranges =
    gateway === undefined || gateway < start || gateway > end
      ? [{ from: start, to: end }]
      : [
          { from: start, to: gateway - 1n },
          { from: gateway + 1n, to: end },
        ];
  return ranges
    .filter(({ from, to }) => from <= to)
    .map(({ from, to }) => ({ start: formatIp({ version, value: from }), end: formatIp({ version, value: to }) }));
}
