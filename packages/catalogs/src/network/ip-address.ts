import { isIP, isIPv6 } from 'node:net';

/** An IP address as a number, so that ranges can be computed. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** An inclusive range of IP addresses, as numbers. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
}

const bitsByVersion = { 4: 32, 6: 128 } as const;

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function ipv6Groups(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [group];
    const value = ipv4Value(group);
    return [(value >> 16n).toString(16), (value & 0xffffn).toString(16)];
  });
}

/** Parses an IP address in any notation. Returns undefined if the string is not an address. */
export function parseIp(text: string): IpAddress | undefined {
  const version = isIP(text);
  if (version === 4) return { version, value: ipv4Value(text) };
  if (version !== 6 || text.includes('%')) return undefined;
  const [head = '', tail] = text.split('::');
  const left = ipv6Groups(head);
  const right = tail === undefined ? [] : ipv6Groups(tail);
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  const value = [...left, ...zeros, ...right].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
  return { version: 6, value };
}

const formatIpv4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

/**
 * Formats an IP address in canonical notation. IPv6 addresses are lower case, the longest run of zeros is compressed,
 * and embedded IPv4 addresses are in dotted notation.
 */
export function formatIp({ version, value }: IpAddress): string {
  if (version === 4) return formatIpv4(value);
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const { at, length } = longestZeroRun(groups);
  if (length < 2) return groups.join(':');
  if (at === 0 && length === 6) return `::${formatIpv4(value)}`;
  if (at === 0 && length === 5 && groups[5] === 'ffff') return `::ffff:${formatIpv4(value)}`;
  return `${groups.slice(0, at).join(':')}::${groups.slice(at + length).join(':')}`;
}

/** Finds the longest run of zero groups. If several runs have the same length, returns the first one. */
function longestZeroRun(groups: readonly string[]): { readonly at: number; readonly length: number } {
  let longest = { at: 0, length: 0 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === '0') length++;
    if (length > longest.length) longest = { at, length };
    at += length;
  }
  return longest;
}

/** Parses a CIDR, and ignores the bits after the prefix. Returns undefined if the string is not a CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const [, base, digits] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = base === undefined ? undefined : parseIp(base);
  if (!address) return undefined;
  const prefix = Number(digits);
  const addressBits = bitsByVersion[address.version];
  if (prefix > addressBits) return undefined;
  const size = 1n << BigInt(addressBits - prefix);
  const first = address.value - (address.value % size);
  return { version: address.version, first, last: first + size - 1n, prefix };
}

/**
 * Parses an IP address that has already been validated.
 *
 * @throws TypeError if it is invalid
 */
export function ipOf(text: string): IpAddress {
  const address = parseIp(text);
  if (!address) throw new TypeError(`'${text}' is not an IP address`);
  return address;
}

/**
 * Parses a CIDR that has already been validated.
 *
 * @throws TypeError if it is invalid
 */
export function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new TypeError(`'${text}' is not a CIDR`);
  return cidr;
}

/** Formats an address range as a CIDR, such as `10.0.0.0/24`. */
export function formatCidr({ version, first, prefix }: Cidr): string {
  return `${formatIp({ version, value: first })}/${prefix}`;
}

export function contains(cidr: Cidr, address: IpAddress): boolean {
  return cidr.version === address.version && address.value >= cidr.first && address.value <= cidr.last;
}

/** Returns an IP address in canonical notation, or the string itself if it is not an address. */
export function canonicalIp(text: string): string {
  // IPv4 addresses, which are the most frequent, have only one valid notation.
  const address = isIPv6(text) ? parseIp(text) : undefined;
  return address ? formatIp(address) : text;
}
