import { networkInterfaces } from 'node:os';

/** Returns the first IPv4 address of this computer that is not a loopback address; 127.0.0.1 if there is none. */
export function ownAddress(): string {
  const allAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return allAddresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
