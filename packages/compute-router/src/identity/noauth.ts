import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type Identity, identityByToken } from './identity.js';

/** Options for `noauth()`. */
export interface NoauthOptions {
  /** Project id for tokens that do not contain one. Default: the user id. */
  readonly projectId?: string;
  /**
   * Ids of the users who have the role `admin` if their token does not list roles. Default: `admin`. All other users
   * have the roles `member` and `reader`.
   */
  readonly adminUsers?: readonly string[];
}

const KNOWN_OPTIONS: Readonly<Record<keyof NoauthOptions, true>> = { projectId: true, adminUsers: true };
const ADMIN_ROLES: readonly string[] = ['admin'];
const MEMBER_ROLES: readonly string[] = ['member', 'reader'];

/**
 * Creates an identity function that trusts every caller, for tests and demonstrations. A token has the format
 * `USER[:PROJECT[:ROLE,ROLE]]`. Roles may contain colons (`key-manager:service-admin`). Empty parts count as omitted; a
 * token without a user is not valid.
 */
export function noauth(options: NoauthOptions = {}): Identity {
  checkOptions('noauth()', options, KNOWN_OPTIONS);
  const adminIds = new Set(options.adminUsers ?? ['admin']);
  return identityByToken(function callerOf(token): Caller | undefined {
    const [userId, project, ...roleParts] = token.split(':');
    if (!userId) return undefined;
    const projectId = project || options.projectId || userId;
    const requestedRoles = roleParts
      .join(':')
      .split(',')
      .filter((role) => role !== '');
    return {
      userId,
      projectId,
      userName: userId,
      projectName: projectId,
      roles: requestedRoles.length > 0 ? requestedRoles : adminIds.has(userId) ? ADMIN_ROLES : MEMBER_ROLES,
      token,
    };
  });
}
