/** Records of the identity service in their wire format. */
export interface Named {
  readonly id: string;
  readonly name: string;
  readonly enabled?: boolean;
  readonly description?: string | null;
  readonly [field: string]: unknown;
}

export interface Project extends Named {
  readonly domain_id: string;
  readonly parent_id: string | null;
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

/** The scope of a role assignment. */
export type Scope =
  | { readonly kind: 'project'; readonly id: string }
  | { readonly kind: 'domain'; readonly id: string }
  | { readonly kind: 'system'; readonly id: 'all' };

export interface Assignment {
  readonly actor: { readonly kind: 'user' | 'group'; readonly id: string };
  readonly scope: Scope;
  readonly roleId: string;
  /** True: it applies to the projects below, and not to the scope itself. */
  readonly inherited: boolean;
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
  readonly accessRules: readonly AccessRule[] | null;
}

/** A request that an application credential may send. */
export interface AccessRule {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly service: string;
}

/** A delegation of roles between two users. */
export interface Trust {
  readonly id: string;
  readonly trustor_user_id: string;
  readonly trustee_user_id: string;
  readonly project_id: string | null;
  readonly impersonation: boolean;
  readonly roles: readonly { readonly id: string; readonly name?: string }[];
  readonly expires_at: string | null;
  readonly remaining_uses: number | null;
  readonly [field: string]: unknown;
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
  readonly trustId: string | null;
}
