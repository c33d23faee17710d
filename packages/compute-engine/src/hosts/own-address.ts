import { networkInterfaces } from 'node:os';

/** Returns the first IPv4 address of this computer that others can reach, or 127.0.0.1 if it has only internal ones. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
