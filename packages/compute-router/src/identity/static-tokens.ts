import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { type Identity, identityByToken } from './identity.js';

/**
 * Knows callers by a fixed table, token to caller. Tokens are kept and compared as hashes, so that the time an answer
 * takes tells nothing about them.
 *
 * @throws TypeError when an entry lacks a user, a project or roles
 */
export function staticTokens(table: Readonly<Record<string, Caller>>): Identity {
  const callers = new Map<string, Caller>();
  for (const [index, [token, caller]] of Object.entries(table).entries()) {
    // The position names an entry, for its key is a secret.
    const entry = `staticTokens(): entry ${index + 1}`;
    if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError(`${entry}: a token is visible ASCII without blanks`);
    if (!caller?.userId || !caller.projectId) throw new TypeError(`${entry} needs a userId and a projectId`);
    if (!Array.isArray(caller.roles)) throw new TypeError(`${entry} needs roles, such as ['member', 'reader']`);
    callers.set(hashOf(token), Object.freeze({ ...caller, token }));
  }
  return identityByToken((token) => callers.get(hashOf(token)));
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64');
