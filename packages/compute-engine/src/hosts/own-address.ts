import { networkInterfaces } from 'node:os';

/**
 * Returns the first IPv4 address of this computer that is not a loopback address; 127.0.0.1 if there is none.
 * @param interfaces the network interfaces. Default: those of this computer
 */
export function ownAddress(interfaces = networkInterfaces()): string {
  const allAddresses = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  return allAddresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
