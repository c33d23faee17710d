import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type Identity, identityByToken } from './identity.js';

/** Options of `noauth()`. */
export interface NoauthOptions {
  /** Project id for tokens that do not contain one. Default: the user id. */
  readonly projectId?: string;
  /**
   * Ids of the users who have the role `admin` if their token does not list roles. Default: `admin`. All other users
   * have the roles `member` and `reader`.
   */
  readonly adminUsers?: readonly string[];
}

const OPTIONS: Readonly<Record<keyof NoauthOptions, true>> = { projectId: true, adminUsers: true };
const ADMIN: readonly string[] = ['admin'];
const MEMBER: readonly string[] = ['member', 'reader'];

/**
 * Creates an identity function that trusts every caller, for tests and demonstrations. A token has the format
 * `USER[:PROJECT[:ROLE,ROLE]]`. Roles may contain colons (`key-manager:service-admin`). Empty parts are handled as
 * omitted; a token without a user is not valid.
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
