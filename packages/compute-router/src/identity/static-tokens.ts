import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { type Identity, identityByToken } from './identity.js';

/**
 * Creates an identity function that accepts a fixed set of tokens. Tokens are stored and compared as hashes, so that
 * response times do not reveal anything about them.
 *
 * @throws TypeError if an entry lacks a user, a project or roles
 */
export function staticTokens(table: Readonly<Record<string, Caller>>): Identity {
  const callersByHash = new Map<string, Caller>();
  for (const [index, [token, caller]] of Object.entries(table).entries()) {
    // Messages identify an entry by its position, because its key is the token.
    const entryLabel = `staticTokens(): entry ${index + 1}`;
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new TypeError(`${entryLabel}: a token must be visible ASCII without spaces`);
    if (!caller?.userId || !caller.projectId) throw new TypeError(`${entryLabel} needs a userId and a projectId`);
    if (!Array.isArray(caller.roles)) throw new TypeError(`${entryLabel} needs roles, such as ['member', 'reader']`);
    callersByHash.set(hashOf(token), Object.freeze({ ...caller, token }));
  }
  return identityByToken((token) => callersByHash.get(hashOf(token)));
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64');
