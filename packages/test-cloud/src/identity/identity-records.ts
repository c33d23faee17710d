/** Records of the identity service, as they look on the wire. */
export interface Named {
  readonly id: string;
  readonly name: string;
  readonly enabled?: boolean;
  readonly description?: string | null;
  readonly [field: string]: unknown;
}

export interface Project extends Named {
  readonly domain_id: string;
}

export interface User extends Named {
  readonly domain_id: string;
  readonly default_project_id?: string | null;
  readonly password?: string;
}

export interface Group extends Named {
  readonly domain_id: string;
  readonly members: readonly string[];
}

/** What a role is given on. */
export type Scope =
  | { readonly kind: 'project'; readonly id: string }
  | { readonly kind: 'domain'; readonly id: string }
  | { readonly kind: 'system'; readonly id: 'all' };

export interface Assignment {
  readonly actor: { readonly kind: 'user' | 'group'; readonly id: string };
  readonly scope: Scope;
  readonly roleId: string;
}

export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly secret: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roleIds: readonly string[];
  readonly expiresAt: number | null;
  readonly unrestricted: boolean;
}

export interface Token {
  readonly id: string;
  readonly auditId: string;
  readonly userId: string;
  readonly scope: Scope | null;
  readonly roleIds: readonly string[];
  readonly methods: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly applicationCredentialId: string | null;
}

/** The kinds that have ids and names and are kept alike. */
export interface Directory {
  domains: Map<string, Named>;
  projects: Map<string, Project>;
  users: Map<string, User>;
  groups: Map<string, Group>;
  roles: Map<string, Named>;
}

/** Everything the identity service knows. */
export interface IdentityState extends Directory {
  assignments: readonly Assignment[];
  credentials: Map<string, ApplicationCredential>;
  tokens: Map<string, Token>;
}
