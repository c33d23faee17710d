import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '@apistrata/compute-engine';
import type { Assignment, IdentityState, Named, Project, Scope, Token, User } from './identity-records.js';

export const DEFAULT_DOMAIN = 'default';
const TOKEN_LIFE_MS = 24 * 3_600_000;
const ROLES = ['admin', 'manager', 'member', 'reader', 'service'];
const PROJECTS = ['admin', 'demo', 'alt_demo', 'service'];
/** Users, with the roles they have in projects; the password of each is `secret`. */
const USERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  admin: { admin: ['admin'], demo: ['admin'], alt_demo: ['admin'] },
  demo: { demo: ['member', 'reader'] },
  alt_demo: { alt_demo: ['member', 'reader'] },
};
export const PASSWORD = 'secret';

/** 32 hexadecimal digits, as identity services number things. */
export const newId = (): string => randomUUID().replaceAll('-', '');

export function sameScope(a: Scope, b: Scope): boolean {
  return a.kind === b.kind && a.id === b.id;
}

function emptyState(): IdentityState {
  return {
    domains: new Map(),
    projects: new Map(),
    users: new Map(),
    groups: new Map(),
    roles: new Map(),
    assignments: [],
    credentials: new Map(),
    tokens: new Map(),
  };
}

/** Who there is, what they may, and the tokens that are out. */
export class Directory {
  state: IdentityState = emptyState();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.reset();
  }

  reset(): void {
    this.state = emptyState();
    this.state.domains.set(DEFAULT_DOMAIN, { id: DEFAULT_DOMAIN, name: 'Default', description: '', enabled: true });
    for (const name of ROLES) this.role(name);
    for (const name of PROJECTS) this.project(name);
    for (const [name, projects] of Object.entries(USERS)) {
      const user = this.user(name);
      for (const [project, roles] of Object.entries(projects))
        for (const role of roles) this.grant(user, { kind: 'project', id: this.project(project).id }, role);
    }
    this.grant(this.user('admin'), { kind: 'system', id: 'all' }, 'admin');
    this.grant(this.user('admin'), { kind: 'domain', id: DEFAULT_DOMAIN }, 'admin');
  }

  now(): number {
    return this.#clock.now();
  }

  /** By name, made when there is none; the ids of what is there from the start are the same in every cloud. */
  role(name: string): Named {
    return this.#named('roles', name, () => ({ id: stableId('role', name), name, domain_id: null, description: '' }));
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
    this.assign({ actor: { kind: 'user', id: user.id }, scope, roleId: this.role(roleName).id });
  }

  assign(assignment: Assignment): void {
    if (!this.state.assignments.some((other) => sameAssignment(other, assignment)))
      this.state.assignments = [...this.state.assignments, assignment];
  }

  /** False when there was none such. */
  revoke(assignment: Assignment): boolean {
    const left = this.state.assignments.filter((other) => !sameAssignment(other, assignment));
    const found = left.length < this.state.assignments.length;
    this.state.assignments = left;
    return found;
  }

  /** Ids of the roles a user has somewhere, by groups too. */
  roleIdsOf(userId: string, scope: Scope): readonly string[] {
    const held = this.state.assignments.filter(
      ({ actor, scope: on }) => sameScope(on, scope) && this.#includes(actor, userId),
    );
    return [...new Set(held.map(({ roleId }) => roleId))];
  }

  #includes(actor: Assignment['actor'], userId: string): boolean {
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
      id: newId(),
      auditId: randomUUID().slice(0, 22),
      issuedAt,
      expiresAt: issuedAt + TOKEN_LIFE_MS,
      ...given,
    };
    this.state.tokens.set(token.id, token);
    return token;
  }

  /** A token that is still good. */
  token(id: string): Token | undefined {
    const token = this.state.tokens.get(id);
    if (!token || token.expiresAt <= this.now()) return undefined;
    return this.state.users.get(token.userId)?.enabled === false ? undefined : token;
  }

  /** All of it, to be put back later. */
  save(): IdentityState {
    return structuredClone(this.state);
  }

  restore(state: IdentityState): void {
    this.state = structuredClone(state);
  }
}

function sameAssignment(a: Assignment, b: Assignment): boolean {
  return (
    a.roleId === b.roleId && a.actor.kind === b.actor.kind && a.actor.id === b.actor.id && sameScope(a.scope, b.scope)
  );
}

/** An id that follows from the name, so that scripts can hold on to it across clouds. */
function stableId(kind: string, name: string): string {
  return createHash('md5').update(`${kind}/${name}`).digest('hex');
}
