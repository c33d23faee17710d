import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type Identity, identityByToken } from './identity.js';

/** Options of `noauth()`. */
export interface NoauthOptions {
  /** Project of tokens that name none. Default: a project named like the user. */
  readonly projectId?: string;
  /** Users with the role admin. Default: `admin`. All other users have the roles member and reader. */
  readonly adminUsers?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof NoauthOptions, true>> = { projectId: true, adminUsers: true };
const ADMIN: readonly string[] = ['admin'];
const MEMBER: readonly string[] = ['member', 'reader'];

/**
 * Trusts every caller: the token `USER[:PROJECT[:ROLE,ROLE]]` states who the caller is. For tests and demonstrations.
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
