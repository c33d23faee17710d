import { BlockList, type IPVersion, isIP, isIPv4 } from 'node:net';
import { HealthcheckConfigError } from './errors.js';

const NETWORK_FIX = 'Use networks such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32';

/** Returns whether a client address is in one of the allowed ranges; false if the address is unknown. */
export type IsAllowedAddress = (address: string | undefined) => boolean;

/**
 * Parses networks, which are written in CIDR notation, with a netmask, or as single addresses.
 *
 * @param option the option name, for error messages
 * @throws HealthcheckConfigError if a network is malformed or has host bits set
 */
export function sourceRanges(ranges: readonly string[], option: string): IsAllowedAddress {
  // IPv4 and IPv6 have separate lists, because ::/0 in a combined list would contain every IPv4 address.
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
  const [address = '', suffix, ...extraParts] = text.split('/');
  const parsed = parseAddress(address);
  const width = isIPv4(address) ? 32 : 128;
  const prefix = suffix === undefined ? width : prefixLength(suffix, width);
  if (!parsed || extraParts.length > 0 || prefix === undefined || prefix > width) {
    throw new HealthcheckConfigError(option, `"${text}" is not a network`, NETWORK_FIX);
  }
  // An IPv4-mapped IPv6 network is treated as IPv4, because mapped clients are IPv4 clients.
  const bits = prefix - (width - parsed.bits.length);
  if (bits < 0 || parsed.bits.includes('1', bits)) {
    throw new HealthcheckConfigError(
      option,
      `"${text}" has host bits set`,
      `${NETWORK_FIX}, with zeros after the prefix`,
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
  /** The address as a string of `0` and `1`, one character per bit. */
  readonly bits: string;
}

const MAPPED_PREFIX = `${'0'.repeat(80)}${'1'.repeat(16)}`;

/** Parses an address. Converts IPv4-mapped IPv6 addresses to IPv4. Returns undefined if the address is malformed. */
function parseAddress(text: string): Address | undefined {
  const address = text.replace(/%.*/s, '');
  if (isIPv4(text)) return { family: 'ipv4', address, bits: bitsOf(address.split('.').map(Number), 8) };
  if (isIP(address) !== 6) return undefined;
  const bits = bitsOf(groupsOf(address), 16);
  if (!bits.startsWith(MAPPED_PREFIX)) return { family: 'ipv6', address, bits };
  const mappedBits = bits.slice(96);
  const bytes = [0, 8, 16, 24].map((from) => Number.parseInt(mappedBits.slice(from, from + 8), 2));
  return { family: 'ipv4', address: bytes.join('.'), bits: mappedBits };
}

/** Returns the eight 16-bit groups of an IPv6 address in any notation, which `URL` normalizes. */
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
