import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type Identity, identityByToken } from './identity.js';

/** Options of `noauth()`. */
export interface NoauthOptions {
  /** Project of tokens that do not name one. Default: a project whose id equals the user's. */
  readonly projectId?: string;
  /** Users with the role `admin`. Default: `admin`. All other users have the roles `member` and `reader`. */
  readonly adminUsers?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof NoauthOptions, true>> = { projectId: true, adminUsers: true };
const ADMIN: readonly string[] = ['admin'];
const MEMBER: readonly string[] = ['member', 'reader'];

/**
 * Creates an identity that trusts every caller: the token is `USER[:PROJECT[:ROLE,ROLE]]`. For tests and demonstrations.
 * Roles may contain colons (`key-manager:service-admin`). Empty parts count as omitted; a token without a user is not
 * valid.
 */
export function noauth(options: NoauthOptions = {}): Identity {
  checkOptions('noauth()', options, OPTIONS);
  const admins = new Set(options.adminUsers ?? ['admin']);
  return identityByToken(function callerOf(token): Caller | undefined {
    const [userId, project, ...roleParts] = token.split(':');
    if (!userId) return undefined;
    const projectId = project || options.projectId || userId;
    const named = roleParts
      .join(':')
      .split(',')
      .filter((role) => role !== '');
    return {
      userId,
      projectId,
      userName: userId,
      projectName: projectId,
      roles: named.length > 0 ? named : admins.has(userId) ? ADMIN : MEMBER,
      token,
    };
  });
}
