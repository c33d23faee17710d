import type { Tx } from '@apistrata/record-store';
import type { Claim, Server, ServerPatch } from '../model/index.js';
import { release } from './claims.js';

/** Returns the claim of a server on its current host: the last one after a resize, otherwise the first. */
export function ownClaim({ claims, host, oldFlavor }: Server): Claim | undefined {
  const here = claims.filter((claim) => claim.host === host);
  return oldFlavor ? here.at(-1) : here[0];
}

/** Releases all claims of a server except the given one. The server must have been read in this transaction. */
export async function keepClaim(tx: Tx, server: Server, retained: Claim | undefined): Promise<ServerPatch> {
  for (const claim of server.claims) if (claim !== retained) await release(tx, claim);
  return { claims: retained ? [retained] : [] };
}
