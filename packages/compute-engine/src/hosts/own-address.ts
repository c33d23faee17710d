import { networkInterfaces } from 'node:os';

/** Returns the first address of this computer that others can reach; 127.0.0.1 if there is none. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
