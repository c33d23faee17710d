import { isIPv4, isIPv6 } from 'node:net';
import { HealthcheckConfigError } from './config-error.js';

/** A network: the bytes of its address (4 or 16) and how many of its bits count. */
interface Network {
  readonly bytes: readonly number[];
  readonly bits: number;
}

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
  const networks = ranges.map((text) => parseNetwork(text, option));

  return function isAllowed(address) {
    const bytes = address === undefined ? undefined : parseAddress(address);
    return bytes !== undefined && networks.some((network) => contains(network, bytes));
  };
}

function parseNetwork(text: string, option: string): Network {
  const [address = '', suffix, ...more] = text.split('/');
  const bytes = parseAddress(address);
  const width = isIPv4(address) ? 32 : 128;
  const prefix = suffix === undefined ? width : prefixLength(suffix, width);
  if (!bytes || more.length > 0 || prefix === undefined || prefix > width) {
    throw new HealthcheckConfigError(option, `"${text}" is no network`, CURE);
  }
  // An IPv4-mapped IPv6 network is the IPv4 network it maps, as mapped peers are IPv4 peers.
  const bits = prefix - (width - bytes.length * 8);
  const masked = bytes.map((byte, index) => byte & maskByte(bits, index));
  if (bits < 0 || masked.some((byte, index) => byte !== bytes[index])) {
    throw new HealthcheckConfigError(
      option,
      `"${text}" has host bits set`,
      `${CURE}, the rest of the address all zero`,
    );
  }
  return { bytes, bits };
}

function prefixLength(suffix: string, width: number): number | undefined {
  if (/^\d{1,3}$/.test(suffix)) return Number(suffix);
  if (width !== 32 || !isIPv4(suffix)) return undefined;
  const mask = suffix
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(mask) ? mask.lastIndexOf('1') + 1 : undefined;
}

/** 4 bytes for IPv4 and for IPv4-mapped IPv6, 16 for the rest of IPv6; undefined for anything else. */
function parseAddress(text: string): readonly number[] | undefined {
  if (isIPv4(text)) return text.split('.').map(Number);
  const address = text.split('%', 1)[0]!;
  if (!isIPv6(address)) return undefined;
  const dotted = /[^:]+\.[^:]+$/.exec(address)?.[0];
  const last = dotted?.split('.').map(Number);
  const hex = last
    ? `${address.slice(0, -dotted!.length)}${pair(last[0]!, last[1]!)}:${pair(last[2]!, last[3]!)}`
    : address;
  const [head = '', tail] = hex.split('::');
  const front = head.split(':').filter(Boolean);
  const back = (tail ?? '').split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const bytes = [...front, ...zeros, ...back].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return mapped ? bytes.slice(12) : bytes;
}

function pair(high: number, low: number): string {
  return ((high << 8) | low).toString(16);
}

function contains(network: Network, bytes: readonly number[]): boolean {
  if (bytes.length !== network.bytes.length) return false;
  return bytes.every((byte, index) => (byte & maskByte(network.bits, index)) === network.bytes[index]);
}

/** The part of the byte at `index` that lies within the first `bits` bits. */
function maskByte(bits: number, index: number): number {
  const left = Math.min(8, Math.max(0, bits - index * 8));
  return (0xff << (8 - left)) & 0xff;
}
