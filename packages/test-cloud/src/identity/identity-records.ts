import type { AccessRule } from '@apistrata/compute-engine/catalogs';

/** An identity service record with a name, in wire format. */
export interface NamedRecord {
  readonly id: string;
  readonly name: string;
  readonly enabled?: boolean;
  readonly description?: string | null;
  readonly [field: string]: unknown;
}

export interface Project extends NamedRecord {
  readonly domain_id: string;
  readonly parent_id: string | null;
}

export interface User extends NamedRecord {
  readonly domain_id: string;
  readonly default_project_id?: string | null;
  readonly password?: string;
}

export interface Group extends NamedRecord {
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
  /** True if the assignment applies to the projects below the scope, and not to the scope itself. */
  readonly inherited: boolean;
}

export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly secret: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roleIds: readonly string[];
  readonly expiresAt: number | null;
  readonly unrestricted: boolean;
  readonly accessRules: readonly StoredAccessRule[] | null;
}

/** A user's stored access rule. */
export interface StoredAccessRule extends AccessRule {
  readonly id: string;
}

/** An OAuth token that acts for the user who authorized it, with some of the user's roles in one project. */
export interface AccessToken {
  readonly id: string;
  readonly secret: string;
  readonly consumerId: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roleIds: readonly string[];
  readonly expiresAt: number;
}

/** An OAuth consumer: a program to which users can delegate roles. */
export interface Consumer {
  readonly id: string;
  readonly secret: string;
}

/** An OAuth request token, which a consumer uses to request a user's roles in a project. */
export interface RequestToken {
  readonly id: string;
  readonly secret: string;
  readonly consumerId: string;
  readonly projectId: string;
  readonly expiresAt: number;
  /** The authorizing user and the delegated roles; undefined until a user authorizes the request token. */
  readonly authorized?: {
    readonly userId: string;
    readonly roleIds: readonly string[];
    /** The code that the user passes to the consumer as proof of the authorization. */
    readonly verifier: string;
  };
}

/** A user's consecutive failed logins. */
export interface FailedLogins {
  readonly count: number;
  /** The time of the last failed login, in milliseconds since the epoch. */
  readonly at: number;
}

/** A role delegation from one user to another. */
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
  /** Roles on the scope: in a stored token, the roles at the time of issue; in a validated token, the current roles. */
  readonly roleIds: readonly string[];
  readonly methods: readonly string[];
  /** The audit ID of the first token in a chain, in which each token was exchanged for the next. */
  readonly parentAuditId?: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly applicationCredentialId: string | null;
  readonly trustId: string | null;
  /** The OAuth token with which this token was obtained. */
  readonly accessTokenId?: string;
}
