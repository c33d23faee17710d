import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IANA's special-purpose networks whose addresses are not public or embed IPv4 addresses. */
const SPECIAL_NETWORKS = {
  ipv4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
    ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
  ],
  ipv6: ['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
} as const;

/**
 * Returns the block list of one IP version. A single list for both versions would also match IPv4 addresses embedded in
 * IPv6 addresses.
 */
function blockListOf(family: keyof typeof SPECIAL_NETWORKS): BlockList {
  const list = new BlockList();
  for (const network of SPECIAL_NETWORKS[family]) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const specialAddresses = { ipv4: blockListOf('ipv4'), ipv6: blockListOf('ipv6') };

/** Returns whether an IP address is public: it belongs neither to this computer nor to a private network. */
export function isPublic(address: string): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return !specialAddresses[family].check(address, family);
}

/** @throws Error if one of the host's addresses is not public */
function checkPublic(host: string, addresses: readonly string[]): void {
  const nonPublicAddress = addresses.find((address) => !isPublic(address));
  if (nonPublicAddress !== undefined)
    throw new Error(
      `${host} has the address ${nonPublicAddress}, which is not public: an administrator can allow the host`,
    );
}

/** Resolves host names, but fails if an address is not public. Connections use only the checked addresses. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error: Error | null, nonPublicAddress: LookupAddress[]) => {
    try {
      if (error) throw error;
      checkPublic(
        host,
        nonPublicAddress.map(({ address }) => address),
      );
      const [first] = nonPublicAddress;
      if (options.all || !first) callback(null, nonPublicAddress);
      else callback(null, first.address, first.family);
    } catch (failure) {
      callback(failure as Error, []);
    }
  });
};

/** Checks a literal IP address, for which {@link publicLookup} is not called. @throws Error if it is not public */
export function checkLiteralAddress(host: string): void {
  if (isIP(host) !== 0) checkPublic(host, [host]);
}
