import { BlockList, type IPVersion, isIP, isIPv4 } from 'node:net';
import { HealthcheckConfigError } from './config-error.js';

const CURE = 'Give networks such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32';

/** True where the peer address lies in one of the ranges; an unknown address lies in none. */
export type SourceRanges = (address: string | undefined) => boolean;

/**
 * Reads networks in CIDR notation, with a netmask instead of the number of bits, or bare addresses.
 *
 * @param option the name to blame
 * @throws HealthcheckConfigError for anything else, and for a network with host bits set
 */
export function sourceRanges(ranges: readonly string[], option: string): SourceRanges {
  // A list each: in one list, ::/0 would hold every IPv4 address too.
  const networks: Readonly<Record<IPVersion, BlockList>> = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const { family, address, prefix } = parseNetwork(text, option);
    networks[family].addSubnet(address, prefix, family);
  }

  return function isAllowed(text) {
    const peer = text === undefined ? undefined : parseAddress(text);
    return peer !== undefined && networks[peer.family].check(peer.address, peer.family);
  };
}

function parseNetwork(text: string, option: string) {
  const [address = '', suffix, ...more] = text.split('/');
  const parsed = parseAddress(address);
  const width = isIPv4(address) ? 32 : 128;
  const prefix = suffix === undefined ? width : prefixLength(suffix, width);
  if (!parsed || more.length > 0 || prefix === undefined || prefix > width) {
    throw new HealthcheckConfigError(option, `"${text}" is no network`, CURE);
  }
  // An IPv4-mapped IPv6 network is the IPv4 network it maps, as mapped peers are IPv4 peers.
  const bits = prefix - (width - parsed.bits.length);
  if (bits < 0 || parsed.bits.includes('1', bits)) {
    throw new HealthcheckConfigError(
      option,
      `"${text}" has host bits set`,
      `${CURE}, the rest of the address all zero`,
    );
  }
  return { ...parsed, prefix: bits };
}

function prefixLength(suffix: string, width: number): number | undefined {
  if (/^\d{1,3}$/.test(suffix)) return Number(suffix);
  if (width !== 32 || !isIPv4(suffix)) return undefined;
  const mask = bitsOf(suffix.split('.').map(Number), 8);
  return /^1*0*$/.test(mask) ? mask.lastIndexOf('1') + 1 : undefined;
}

interface Address {
  readonly family: IPVersion;
  readonly address: string;
  /** One character for each bit. */
  readonly bits: string;
}

const MAPPED = `${'0'.repeat(80)}${'1'.repeat(16)}`;

/** An IPv4-mapped IPv6 address is the IPv4 address; undefined for what is no address. */
function parseAddress(text: string): Address | undefined {
  const address = text.replace(/%.*/s, '');
  if (isIPv4(text)) return { family: 'ipv4', address, bits: bitsOf(address.split('.').map(Number), 8) };
  if (isIP(address) !== 6) return undefined;
  const bits = bitsOf(groupsOf(address), 16);
  if (!bits.startsWith(MAPPED)) return { family: 'ipv6', address, bits };
  const own = bits.slice(96);
  const bytes = [0, 8, 16, 24].map((from) => Number.parseInt(own.slice(from, from + 8), 2));
  return { family: 'ipv4', address: bytes.join('.'), bits: own };
}

/** The eight groups of an IPv6 address; the platform's URL writes every form of it as groups. */
function groupsOf(address: string): readonly number[] {
  const [front = [], back = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16));
}

function bitsOf(parts: readonly number[], width: number): string {
  return parts.map((part) => part.toString(2).padStart(width, '0')).join('');
}
