import type { Tx } from '@apistrata/record-store';
import type { Claim, Server, ServerPatch } from '../model/index.js';
import { release } from './claims.js';

/** Which of its claims a server lives on: the last one of its host once it was resized, else the first. */
export function ownClaim({ claims, host, oldFlavor }: Server): Claim | undefined {
  const here = claims.filter((claim) => claim.host === host);
  return oldFlavor ? here.at(-1) : here[0];
}

/** Gives back all claims of a server (as read in this transaction) but one. */
export async function keepClaim(tx: Tx, server: Server, kept: Claim | undefined): Promise<ServerPatch> {
  for (const claim of server.claims) if (claim !== kept) await release(tx, claim);
  return { claims: kept ? [kept] : [] };
}
