import type { Wire } from '../service/wire.js';

/** The scopes for which tokens are issued. A token without a scope counts as a token for a project. */
export type ScopeKind = 'system' | 'domain' | 'project';

/** The caller of a request, as policies see it. */
export interface Subject {
  readonly userId: string;
  readonly roles: readonly string[];
  readonly scope: ScopeKind;
  /** The domain to which the caller's token is scoped. */
  readonly domainId: string | undefined;
  readonly projectId: string;
  readonly projectDomainId: string | undefined;
}

/** The policy-relevant fields of the record that an action accesses. Checks of missing fields fail. */
export interface Target {
  /** The domains of all records that the action concerns. */
  readonly domains?: readonly unknown[];
  /** The ID of the user to whom the record belongs; for a user record, the user's own ID. */
  readonly owner?: unknown;
  readonly trustee?: unknown;
  readonly project?: unknown;
  readonly role?: Wire | undefined;
}

type CheckFunction = (subject: Subject, target: Target) => boolean;

/** The roles that a domain manager may read, grant and revoke, which do not exceed the role `manager`. */
const MANAGED_ROLES: readonly unknown[] = ['manager', 'member', 'reader'];

const hasRole =
  (name: string): CheckFunction =>
  ({ roles }) =>
    roles.includes(name);
const isSystemScoped: CheckFunction = ({ scope }) => scope === 'system';
const isDomainScoped: CheckFunction = ({ domainId }) => domainId !== undefined;
const isOfDomain: CheckFunction = ({ domainId }, { domains = [] }) =>
  domainId !== undefined && domains.length > 0 && domains.every((id) => id === domainId);
const isOwner: CheckFunction = ({ userId }, { owner }) => owner === userId;
const isManagedRole: CheckFunction = (_subject, { role }) => MANAGED_ROLES.includes(role?.name);
const isGlobalOrOwnRole: CheckFunction = ({ domainId }, { role }) =>
  role !== undefined && (!role.domain_id || role.domain_id === domainId);

const all =
  (...checks: readonly CheckFunction[]): CheckFunction =>
  (subject, target) =>
    checks.every((check) => check(subject, target));

const isSystemReader = all(hasRole('reader'), isSystemScoped);
const isDomainReader = all(hasRole('reader'), isOfDomain);
const isDomainManager = all(hasRole('manager'), isOfDomain);

/**
 * The conditions under which policies allow an action, by name. A token also contains the roles that its roles imply,
 * so a check for one role also accepts each role that implies it.
 */
export const CHECKS = {
  anyone: () => true,
  admin: hasRole('admin'),
  service: hasRole('service'),
  systemAdmin: all(hasRole('admin'), isSystemScoped),
  systemReader: isSystemReader,
  domainReader: isDomainReader,
  domainManager: isDomainManager,
  anyRoleOnDomain: isOfDomain,
  tokenInDomain: ({ domainId, projectDomainId }, { domains = [] }) =>
    domains.length > 0 && domains.every((id) => id === domainId || id === projectDomainId),
  tokenOfProject: ({ projectId }, { project }) => projectId !== '' && project === projectId,
  owner: isOwner,
  ownerWhoIsMember: all(hasRole('member'), isOwner),
  trustee: ({ userId }, { trustee }) => trustee === userId,
  domainReaderOfGrant: all(isDomainReader, isGlobalOrOwnRole),
  domainManagerOfGrant: all(isDomainManager, isManagedRole),
  managerOfRole: all(hasRole('manager'), isManagedRole),
  managerOfDomain: all(hasRole('manager'), isDomainScoped),
} as const satisfies Readonly<Record<string, CheckFunction>>;

export type CheckName = keyof typeof CHECKS;
