import type { Documents } from '../service/documents.js';
import type {
  AccessToken,
  ApplicationCredential,
  Assignment,
  Consumer,
  FailedLogins,
  Group,
  NamedRecord,
  Project,
  RequestToken,
  Token,
  Trust,
  User,
} from './identity-records.js';

/** Returns the identity service's tables, which are stored as documents. */
export function tablesOf(documents: Documents) {
  return {
    domains: documents.table<NamedRecord>('identity/domains'),
    projects: documents.table<Project>('identity/projects'),
    users: documents.table<User>('identity/users'),
    groups: documents.table<Group>('identity/groups'),
    roles: documents.table<NamedRecord>('identity/roles'),
    assignments: documents.table<Assignment>('identity/assignments'),
    /** The IDs of the roles that each role implies directly, by role ID. */
    implied: documents.table<readonly string[]>('identity/implied-roles'),
    credentials: documents.table<ApplicationCredential>('identity/application-credentials'),
    trusts: documents.table<Trust>('identity/trusts'),
    accessTokens: documents.table<AccessToken>('identity/oauth-access-tokens'),
    requestTokens: documents.table<RequestToken>('identity/oauth-request-tokens'),
    consumers: documents.table<Consumer>('identity/consumers'),
    /** Failed logins, by user ID. */
    failedLogins: documents.table<FailedLogins>('identity/failed-logins'),
    tokens: documents.table<Token>('identity/tokens'),
  };
}

/** The tables that determine the roles of a token. */
export const ROLE_TABLES = [
  'domains',
  'projects',
  'users',
  'groups',
  'roles',
  'assignments',
  'implied-roles',
  'application-credentials',
  'trusts',
  'oauth-access-tokens',
].map((name) => `identity/${name}`);
