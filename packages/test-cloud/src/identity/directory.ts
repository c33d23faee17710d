import { randomUUID } from 'node:crypto';
import type { Clock } from '@apistrata/compute-engine';
import type { Documents } from '../service/documents.js';
import { seedCatalog } from './catalog.js';
import type {
  ApplicationCredential,
  Assignment,
  Group,
  Named,
  Project,
  Scope,
  Token,
  Trust,
  User,
} from './identity-records.js';
import { newId, stableId } from './new-id.js';

export const DEFAULT_DOMAIN = 'default';
/** Clients read years of four digits. */
const END_OF_TIME = Date.UTC(9999, 11, 31);
const TOKEN_LIFE_MS = 24 * 3_600_000;
/** Each brings the one behind it with it. */
const ROLES = ['admin', 'manager', 'member', 'reader'];
const PROJECTS = ['admin', 'demo', 'alt_demo', 'service'];
/** Users, with the roles they have in projects; the password of each is `secret`. */
const USERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  admin: { admin: ['admin'], demo: ['admin'], alt_demo: ['admin'] },
  demo: { demo: ['member', 'reader'] },
  alt_demo: { alt_demo: ['member', 'reader'] },
};
export const PASSWORD = 'secret';

export function sameScope(a: Scope, b: Scope): boolean {
  return a.kind === b.kind && a.id === b.id;
}

const keyOf = ({ actor, scope, roleId, inherited }: Assignment) =>
  [actor.kind, actor.id, scope.kind, scope.id, roleId, inherited].join('/');

/** The tables of the identity service among the documents of the cloud. */
function tablesOf(documents: Documents) {
  return {
    domains: documents.table<Named>('identity/domains'),
    projects: documents.table<Project>('identity/projects'),
    users: documents.table<User>('identity/users'),
    groups: documents.table<Group>('identity/groups'),
    roles: documents.table<Named>('identity/roles'),
    assignments: documents.table<Assignment>('identity/assignments'),
    /** Which roles a role brings with it. */
    implied: documents.table<readonly string[]>('identity/implied-roles'),
    credentials: documents.table<ApplicationCredential>('identity/application-credentials'),
    trusts: documents.table<Trust>('identity/trusts'),
    tokens: documents.table<Token>('identity/tokens'),
  };
}

/** Who there is, what they may, and the tokens that are out. */
export class Directory {
  readonly #documents: Documents;
  readonly #clock: Clock;

  constructor(documents: Documents, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
    this.begin();
  }

  get state() {
    return tablesOf(this.#documents);
  }

  /** Who there is from the start. */
  begin(): void {
    const { domains, implied } = this.state;
    const domain = { id: DEFAULT_DOMAIN, name: 'Default', description: '', enabled: true, tags: [], options: {} };
    domains.set(DEFAULT_DOMAIN, domain);
    for (const name of [...ROLES, 'service']) this.role(name);
    // Each implies the one that follows.
    ROLES.reduce((prior, name) => {
      implied.set(this.role(prior).id, [this.role(name).id]);
      return name;
    });
    for (const name of PROJECTS) this.project(name);
    for (const [name, projects] of Object.entries(USERS)) {
      const user = this.user(name);
      for (const [project, roles] of Object.entries(projects))
        for (const role of roles) this.grant(user, { kind: 'project', id: this.project(project).id }, role);
    }
    this.grant(this.user('admin'), { kind: 'system', id: 'all' }, 'admin');
    this.grant(this.user('admin'), { kind: 'domain', id: DEFAULT_DOMAIN }, 'admin');
    seedCatalog(this.#documents);
  }

  now(): number {
    return this.#clock.now();
  }

  /** By name, made when there is none; the ids of what is there from the start are the same in every cloud. */
  role(name: string): Named {
    const fields = { id: stableId('role', name), name, domain_id: null, description: '', options: {} };
    return this.#named('roles', name, () => fields);
  }

  /** By name or id, made when there is none. */
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
    return this.#named('projects', name, () => fields) as Project;
  }

  /** By name or id, made when there is none. */
  user(name: string): User {
    const fields = {
      id: stableId('user', name),
      name,
      domain_id: DEFAULT_DOMAIN,
      enabled: true,
      password: PASSWORD,
      default_project_id: null,
      password_expires_at: null,
      options: {},
    };
    return this.#named('users', name, () => fields) as User;
  }

  #named<N extends Named>(kind: 'roles' | 'projects' | 'users', name: string, make: () => N): N {
    const table = this.state[kind] as unknown as Map<string, N>;
    const known = table.get(name) ?? [...table.values()].find((record) => record.name === name);
    if (known) return known;
    const made = make();
    table.set(made.id, made);
    return made;
  }

  grant(user: Pick<User, 'id'>, scope: Scope, roleName: string): void {
    this.assign({ actor: { kind: 'user', id: user.id }, scope, roleId: this.role(roleName).id, inherited: false });
  }

  assign(assignment: Assignment): void {
    this.state.assignments.set(keyOf(assignment), assignment);
  }

  isAssigned(assignment: Assignment): boolean {
    return this.state.assignments.has(keyOf(assignment));
  }

  /** False when there was none such. */
  revoke(assignment: Assignment): boolean {
    return this.state.assignments.delete(keyOf(assignment));
  }

  /** Roles on or of something that is gone are gone too, and so are its tokens. */
  forget(id: string): void {
    const { assignments, tokens, credentials, trusts, implied } = this.state;
    for (const [key, { actor, scope, roleId }] of assignments)
      if (actor.id === id || scope.id === id || roleId === id) assignments.delete(key);
    for (const [key, { userId, scope }] of tokens) if (userId === id || scope?.id === id) tokens.delete(key);
    for (const [key, { userId, projectId }] of credentials)
      if (userId === id || projectId === id) credentials.delete(key);
    for (const [key, trust] of trusts)
      if ([trust.trustor_user_id, trust.trustee_user_id, trust.project_id].includes(id)) trusts.delete(key);
    implied.delete(id);
    for (const [prior, roles] of implied)
      if (roles.includes(id))
        implied.set(
          prior,
          roles.filter((role) => role !== id),
        );
  }

  /** The project and whatever is above it, up to its domain. */
  #above(scope: Scope): readonly Scope[] {
    if (scope.kind !== 'project') return [];
    const scopes: Scope[] = [];
    const seen = new Set<string>();
    for (let project = this.state.projects.get(scope.id); project && !seen.has(project.id); ) {
      seen.add(project.id);
      scopes.push({ kind: 'domain', id: project.domain_id });
      const parent = project.parent_id ? this.state.projects.get(project.parent_id) : undefined;
      if (parent) scopes.push({ kind: 'project', id: parent.id });
      project = parent;
    }
    return scopes;
  }

  /** The assignments that hold on a scope, those from above it included. */
  holdingOn(scope: Scope): readonly Assignment[] {
    const above = this.#above(scope);
    return [...this.state.assignments.values()].filter(({ scope: on, inherited }) =>
      inherited ? above.some((other) => sameScope(other, on)) : sameScope(on, scope),
    );
  }

  /** The roles and all that they bring with them. */
  withImplied(roleIds: readonly string[]): readonly string[] {
    const all = new Set(roleIds);
    // What is added on the way is visited too.
    for (const id of all) for (const next of this.state.implied.get(id) ?? []) all.add(next);
    return [...all];
  }

  /** Those that tokens carry: roles of domains only bring others with them. */
  effectiveRoles(roleIds: readonly string[]): readonly string[] {
    return this.withImplied(roleIds).filter((id) => !this.state.roles.get(id)?.domain_id);
  }

  /** Ids of the roles a user has somewhere: of its own, by groups, from above, and by other roles. */
  roleIdsOf(userId: string, scope: Scope): readonly string[] {
    const held = this.holdingOn(scope).filter(({ actor }) => this.includes(actor, userId));
    return this.effectiveRoles(held.map(({ roleId }) => roleId));
  }

  includes(actor: Assignment['actor'], userId: string): boolean {
    return actor.kind === 'user' ? actor.id === userId : !!this.state.groups.get(actor.id)?.members.includes(userId);
  }

  projectsOf(userId: string): readonly Project[] {
    return [...this.state.projects.values()].filter(
      ({ id }) => this.roleIdsOf(userId, { kind: 'project', id }).length > 0,
    );
  }

  issue(given: Pick<Token, 'userId' | 'scope' | 'roleIds' | 'methods'> & Partial<Token>): Token {
    const issuedAt = this.now();
    const token = {
      applicationCredentialId: null,
      trustId: null,
      id: newId(),
      auditId: randomUUID().slice(0, 22),
      issuedAt,
      expiresAt: issuedAt + TOKEN_LIFE_MS,
      ...given,
    };
    this.state.tokens.set(token.id, token);
    return token;
  }

  /** A token that does not run out, without a login; who is not there is made. */
  lastingToken(user: string, project: string, roles: readonly string[]): string {
    return this.issue({
      userId: this.user(user).id,
      scope: { kind: 'project', id: this.project(project).id },
      roleIds: roles.map((role) => this.role(role).id),
      methods: ['password'],
      expiresAt: END_OF_TIME,
    }).id;
  }

  /** A token that is still good. */
  token(id: string): Token | undefined {
    const { tokens, users } = this.state;
    const token = tokens.get(id);
    if (!token || token.expiresAt <= this.now()) return undefined;
    return users.get(token.userId)?.enabled === false ? undefined : token;
  }
}
