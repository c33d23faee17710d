import type { Tx } from '@apistrata/record-store';
import type { Claim, Server, ServerPatch } from '../model/index.js';
import { lockClaims, releaseClaim } from './claims.js';

/** Returns the claim of a server on its current host: the last one after a resize, otherwise the first. */
export function currentClaim({ claims, host, oldFlavor }: Server): Claim | undefined {
  const hostClaims = claims.filter((claim) => claim.host === host);
  return oldFlavor ? hostClaims.at(-1) : hostClaims[0];
}

/** Releases all claims of a server except the given one. The server must have been read in this transaction. */
export async function keepOnlyClaim(tx: Tx, server: Server, retained: Claim | undefined): Promise<ServerPatch> {
  const releasedClaims = server.claims.filter((claim) => claim !== retained);
  if (new Set(releasedClaims.map(({ host }) => host)).size > 1) await lockClaims(tx);
  for (const claim of releasedClaims) await releaseClaim(tx, claim);
  return { claims: retained ? [retained] : [] };
}
