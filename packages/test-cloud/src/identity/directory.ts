import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '@apistrata/compute-engine';
import type { Documents } from '../service/documents.js';
import { seedCatalog } from './catalog.js';
import { currentRoleIds } from './current-roles.js';
import type { Assignment, NamedRecord, Project, Scope, Token, User } from './identity-records.js';
import { ROLE_TABLES, tablesOf } from './identity-tables.js';
import type { Lockout } from './lockout.js';
import { newId, stableId } from './new-id.js';
import type { Passwords } from './passwords.js';
import { removeReferences } from './references.js';

export const DEFAULT_DOMAIN = 'default';
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
/** The initial roles. Each role implies the next role in the list. */
const INITIAL_ROLES = ['admin', 'manager', 'member', 'reader'];
/** The minimum interval between removals of expired tokens. */
const REMOVAL_INTERVAL_MS = 600_000;

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.kind === b.kind && a.id === b.id;
}

/** Returns a token's key in the token table: a hash, because keys are stored unencrypted and tokens are secrets. */
const tokenKey = (id: string) => createHash('sha256').update(id).digest('hex');

const assignmentKey = ({ actor, scope, roleId, inherited }: Assignment) =>
  [actor.kind, actor.id, scope.kind, scope.id, roleId, inherited].join('/');

/**
 * The cached result of validating a token at a table revision: the token with its roles; undefined if it was invalid.
 */
interface CachedValidation {
  readonly revision: number;
  readonly token: Token | undefined;
}

/** Manages users, projects, role assignments and tokens. */
export class Directory {
  readonly #documents: Documents;
  readonly #clock: Clock;
  /** Hashes user passwords and application credential secrets. */
  readonly passwords: Passwords;
  /** The rule that locks accounts after failed logins; if undefined, accounts are never locked. */
  readonly lockout: Lockout | undefined;
  readonly #validated = new WeakMap<Token, CachedValidation>();
  #lastRemovalAt = 0;

  constructor(documents: Documents, clock: Clock, passwords: Passwords, lockout?: Lockout) {
    this.#documents = documents;
    this.#clock = clock;
    this.passwords = passwords;
    this.lockout = lockout;
  }

  get state() {
    return tablesOf(this.#documents);
  }

  /** Creates the default domain, the initial roles, the services and their endpoints. */
  seed(): void {
    const { domains, implied } = this.state;
    const domain = { id: DEFAULT_DOMAIN, name: 'Default', description: '', enabled: true, tags: [], options: {} };
    domains.set(DEFAULT_DOMAIN, domain);
    for (const name of [...INITIAL_ROLES, 'service']) this.role(name);
    INITIAL_ROLES.reduce((prior, name) => {
      implied.set(this.role(prior).id, [this.role(name).id]);
      return name;
    });
    seedCatalog(this.#documents);
  }

  now(): number {
    return this.#clock.now();
  }

  /** Returns the role with the given name, and creates it if it does not exist. The ID is the same in every cloud. */
  role(name: string): NamedRecord {
    const fields = { id: stableId('role', name), name, domain_id: null, description: '', options: {} };
    return this.#findOrCreate('roles', name, () => fields);
  }

  /** Returns the project with the given name or ID, and creates it if it does not exist. */
  project(name: string): Project {
    const fields = {
      id: stableId('project', name),
      name,
      domain_id: DEFAULT_DOMAIN,
      parent_id: DEFAULT_DOMAIN,
      description: '',
      enabled: true,
      is_domain: false,
      tags: [],
      options: {},
    };
    return this.#findOrCreate('projects', name, () => fields) as Project;
  }

  /**
   * Returns the user with the given name or ID. A missing user is created with `password`, which must be a password
   * hash.
   */
  user(name: string, password: string): User {
    const fields = {
      id: stableId('user', name),
      name,
      domain_id: DEFAULT_DOMAIN,
      enabled: true,
      password,
      default_project_id: null,
      password_expires_at: null,
      options: {},
    };
    return this.#findOrCreate('users', name, () => fields) as User;
  }

  #findOrCreate<N extends NamedRecord>(kind: 'roles' | 'projects' | 'users', name: string, createRecord: () => N): N {
    const table = this.state[kind] as unknown as Map<string, N>;
    const existingRecord = table.get(name) ?? [...table.values()].find((record) => record.name === name);
    if (existingRecord) return existingRecord;
    const newRecord = createRecord();
    table.set(newRecord.id, newRecord);
    return newRecord;
  }

  grant(user: Pick<User, 'id'>, scope: Scope, roleName: string): void {
    this.assign({ actor: { kind: 'user', id: user.id }, scope, roleId: this.role(roleName).id, inherited: false });
  }

  assign(assignment: Assignment): void {
    this.state.assignments.set(assignmentKey(assignment), assignment);
  }

  isAssigned(assignment: Assignment): boolean {
    return this.state.assignments.has(assignmentKey(assignment));
  }

  /** Removes a role assignment. Returns false if the assignment does not exist. */
  revoke(assignment: Assignment): boolean {
    return this.state.assignments.delete(assignmentKey(assignment));
  }

  removeReferencesTo(id: string): void {
    removeReferences(this.#documents, id);
  }

  /** Returns the domain and the ancestors of a project scope; an empty list for other scopes. */
  #ancestors(scope: Scope): readonly Scope[] {
    if (scope.kind !== 'project') return [];
    const ancestorScopes: Scope[] = [];
    const visitedIds = new Set<string>();
    for (let project = this.state.projects.get(scope.id); project && !visitedIds.has(project.id); ) {
      visitedIds.add(project.id);
      ancestorScopes.push({ kind: 'domain', id: project.domain_id });
      const parent = project.parent_id ? this.state.projects.get(project.parent_id) : undefined;
      if (parent) ancestorScopes.push({ kind: 'project', id: parent.id });
      project = parent;
    }
    return ancestorScopes;
  }

  /** Returns the role assignments that apply to a scope, including inherited assignments. */
  assignmentsOfScope(scope: Scope): readonly Assignment[] {
    const ancestors = this.#ancestors(scope);
    return [...this.state.assignments.values()].filter(({ scope: assignedScope, inherited }) =>
      inherited
        ? ancestors.some((ancestor) => isSameScope(ancestor, assignedScope))
        : isSameScope(assignedScope, scope),
    );
  }

  /** Returns the given role IDs and the IDs of all roles that they imply. */
  includeImpliedRoleIds(roleIds: readonly string[]): readonly string[] {
    const allRoleIds = new Set(roleIds);
    // Iterating over a set also visits elements that are added during the loop.
    for (const id of allRoleIds) for (const impliedId of this.state.implied.get(id) ?? []) allRoleIds.add(impliedId);
    return [...allRoleIds];
  }

  /** Returns the roles for a token: adds implied roles, and removes domain-specific roles, which only imply others. */
  effectiveRoles(roleIds: readonly string[]): readonly string[] {
    return this.includeImpliedRoleIds(roleIds).filter((id) => !this.state.roles.get(id)?.domain_id);
  }

  /** Returns the IDs of a user's roles on a scope, including group roles, inherited roles and implied roles. */
  roleIdsOf(userId: string, scope: Scope): readonly string[] {
    const assignments = this.assignmentsOfScope(scope).filter(({ actor }) => this.isActor(actor, userId));
    return this.effectiveRoles(assignments.map(({ roleId }) => roleId));
  }

  /** Returns whether the actor of a role assignment is the user, or a group that contains the user. */
  isActor(actor: Assignment['actor'], userId: string): boolean {
    return actor.kind === 'user' ? actor.id === userId : !!this.state.groups.get(actor.id)?.members.includes(userId);
  }

  projectsOf(userId: string): readonly Project[] {
    return [...this.state.projects.values()].filter(
      ({ id }) => this.roleIdsOf(userId, { kind: 'project', id }).length > 0,
    );
  }

  /** Issues a token. @param latestExpiry in milliseconds since the epoch; default: only the token lifetime applies */
  issueToken(
    grant: Pick<Token, 'userId' | 'scope' | 'roleIds' | 'methods'> & Partial<Token>,
    latestExpiry = Number.POSITIVE_INFINITY,
  ): Token {
    const issuedAt = this.now();
    const token = {
      applicationCredentialId: null,
      trustId: null,
      id: newId(),
      auditId: randomUUID().slice(0, 22),
      issuedAt,
      expiresAt: Math.min(issuedAt + TOKEN_LIFETIME_MS, latestExpiry),
      ...grant,
    };
    this.#removeExpired(issuedAt);
    this.state.tokens.set(tokenKey(token.id), token);
    return token;
  }

  /** Removes expired tokens, at most once per interval, so that the token table does not grow without bound. */
  #removeExpired(now: number): void {
    if (now < this.#lastRemovalAt + REMOVAL_INTERVAL_MS) return;
    this.#lastRemovalAt = now;
    for (const [key, { expiresAt }] of this.state.tokens) if (expiresAt <= now) this.state.tokens.delete(key);
  }

  /** Replaces a user's password hash and revokes the user's tokens. */
  setPassword(user: User, password: string): void {
    this.state.users.set(user.id, { ...user, password });
    this.revokeTokensOf(user.id);
  }

  /** Revokes the tokens whose user or scope has the ID `id`, or belongs to the domain with this ID. */
  revokeTokensOf(id: string): void {
    const { tokens, users, projects } = this.state;
    for (const [key, { userId, scope }] of tokens) {
      const domains = [users.get(userId)?.domain_id, projects.get(scope?.id ?? '')?.domain_id];
      if ([userId, scope?.id, ...domains].includes(id)) tokens.delete(key);
    }
  }

  /** Revokes the tokens of a disabled user, project or domain. Deletes a disabled user's application credentials. */
  revokeAccess(id: string): void {
    const { credentials } = this.state;
    this.revokeTokensOf(id);
    for (const [key, { userId }] of credentials) if (userId === id) credentials.delete(key);
  }

  revokeToken({ id }: Token): void {
    this.state.tokens.delete(tokenKey(id));
  }

  /**
   * Returns a valid token with its current roles. Returns undefined if the token is unknown or expired, its user or
   * scope was deleted or disabled, or its roles or delegation were revoked.
   */
  token(id: string): Token | undefined {
    const token = this.#documents.table<Token>('identity/tokens').get(tokenKey(id));
    if (!token || token.expiresAt <= this.now()) return undefined;
    const revision = ROLE_TABLES.reduce((sum, name) => sum + this.#documents.revisionOf(name), 0);
    const cachedValidation = this.#validated.get(token);
    if (cachedValidation?.revision === revision) return cachedValidation.token;
    const roleIds = this.roleIdsOfToken(token);
    const validated = roleIds && { ...token, roleIds };
    this.#validated.set(token, { revision, token: validated });
    return validated;
  }

  /** Returns the current roles of a token; undefined if it is no longer valid. */
  protected roleIdsOfToken(token: Token): readonly string[] | undefined {
    return currentRoleIds(this, token);
  }
}
