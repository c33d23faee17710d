import { z } from 'zod';
import { forbidden, ServiceError } from '../service/service-error.js';
import { currentRoleIds } from './current-roles.js';
import { forbiddenAction } from './delegation.js';
import { DEFAULT_DOMAIN, type Directory } from './directory.js';
import type { NamedRecord, Scope, Token, User } from './identity-records.js';
import { isPasswordOf } from './lockout.js';
import type { SignedRequest } from './oauth-signature.js';
import { verifyAccessToken } from './oauth-tokens.js';

const Domain = z.object({ id: z.string().optional(), name: z.string().optional() });
const UserRef = z.object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() });

/** The body of an authentication request. */
export const Login = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.array(z.string()),
      password: z.object({ user: UserRef.extend({ password: z.string() }) }).optional(),
      token: z.object({ id: z.string() }).optional(),
      application_credential: z
        .object({
          id: z.string().optional(),
          name: z.string().optional(),
          secret: z.string(),
          user: UserRef.optional(),
        })
        .optional(),
      oauth1: z.object({}).optional(),
    }),
    scope: z
      .union([
        z.literal('unscoped'),
        z.object({
          project: z
            .object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() })
            .optional(),
          domain: Domain.optional(),
          system: z.object({ all: z.boolean() }).optional(),
          unscoped: z.unknown().optional(),
          'OS-TRUST:trust': z.object({ id: z.string() }).optional(),
        }),
      ])
      .optional(),
  }),
});

type Awaitable<T> = T | Promise<T>;
type LoginBody = z.infer<typeof Login>['auth'];

/** The body of an authentication request, and the HTTP request itself, which OAuth consumers sign. */
interface LoginAttempt extends LoginBody {
  readonly request: SignedRequest;
}

export const authenticationError = () =>
  new ServiceError(401, 'The request you have made requires authentication.', 'Unauthorized');

interface AuthenticatedUser {
  readonly user: User;
  readonly methods: readonly string[];
  /** The scope that the credentials determine, such as the project of an application credential. */
  readonly scope?: Scope;
  readonly applicationCredentialId?: string;
  readonly trustId?: string;
  readonly accessTokenId?: string;
  readonly parentAuditId?: string;
  /** The latest expiry of the token, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** Finds a record by its ID, or by its name within a domain. */
function findRecord<N extends NamedRecord & { readonly domain_id?: unknown }>(
  { state }: Directory,
  table: Map<string, N>,
  ref: { readonly id?: string; readonly name?: string; readonly domain?: { id?: string; name?: string } } | undefined,
): N | undefined {
  if (!ref) return undefined;
  if (ref.id !== undefined) return table.get(ref.id);
  const namedDomainId = [...state.domains.values()].find(({ name }) => name === ref.domain?.name)?.id;
  const domainId = ref.domain?.id ?? namedDomainId ?? DEFAULT_DOMAIN;
  return [...table.values()].find(({ name, domain_id }) => name === ref.name && domain_id === domainId);
}

/** Returns the earlier of two times; either may be missing. */
function earlierTime(one: number | null | undefined, other: number | null | undefined): number | undefined {
  return one != null && other != null ? Math.min(one, other) : (one ?? other ?? undefined);
}

/** Rejects tokens that must not be exchanged for another token, because the new token could have more roles. */
function checkExchange(exchangedToken: Token, scope: LoginBody['scope']): void {
  if (exchangedToken.accessTokenId)
    throw forbiddenAction('Using OAuth-scoped token to create another token. Create a new OAuth-scoped token instead');
  if (exchangedToken.trustId)
    throw forbiddenAction('Using trust-scoped token to create another token. Create a new trust-scoped token instead');
  const narrowerScope = typeof scope === 'object' && (scope.project || scope.domain);
  if (exchangedToken.scope?.kind === 'system' && narrowerScope)
    throw forbiddenAction(
      'Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.',
    );
  if (exchangedToken.applicationCredentialId && scope !== undefined)
    throw forbiddenAction('Using an application credential token to create a scoped token is not allowed.');
}

/** The authentication methods. Each method returns the user whom the credentials identify, or undefined. */
const authenticators: Readonly<
  Record<string, (directory: Directory, attempt: LoginAttempt) => Awaitable<AuthenticatedUser | undefined>>
> = {
  async password(directory, { identity: { password } }) {
    if (!password) return undefined;
    const user = findRecord(directory, directory.state.users, password.user);
    const isCorrect = await isPasswordOf(directory, user, password.user.password);
    return user && isCorrect ? { user, methods: ['password'] } : undefined;
  },
  token(directory, { identity: { token }, scope }) {
    const exchangedToken = token && directory.token(token.id);
    const user = exchangedToken && directory.state.users.get(exchangedToken.userId);
    if (!user) return undefined;
    checkExchange(exchangedToken, scope);
    return {
      user,
      methods: [...new Set([...exchangedToken.methods, 'token'])],
      expiresAt: exchangedToken.expiresAt,
      parentAuditId: exchangedToken.parentAuditId ?? exchangedToken.auditId,
      ...(exchangedToken.applicationCredentialId && {
        applicationCredentialId: exchangedToken.applicationCredentialId,
        scope: exchangedToken.scope ?? undefined,
      }),
    };
  },
  async application_credential(directory, { identity: { application_credential: submitted } }) {
    if (!submitted) return undefined;
    const owner = findRecord(directory, directory.state.users, submitted.user);
    const credential = [...directory.state.credentials.values()].find(({ id, name, userId }) =>
      submitted.id === undefined ? name === submitted.name && userId === owner?.id : id === submitted.id,
    );
    const isExpired = credential?.expiresAt != null && credential.expiresAt <= directory.now();
    const user = credential && directory.state.users.get(credential.userId);
    const isSecretCorrect = await directory.passwords.matches(submitted.secret, credential?.secret);
    if (!user || isExpired || !isSecretCorrect) return undefined;
    return {
      user,
      methods: ['application_credential'],
      scope: { kind: 'project', id: credential.projectId },
      applicationCredentialId: credential.id,
      expiresAt: credential.expiresAt ?? undefined,
    };
  },
  oauth1(directory, { request }) {
    const { id, userId, projectId, expiresAt } = verifyAccessToken(directory, request);
    const user = directory.state.users.get(userId);
    return (
      user && { user, methods: ['oauth1'], scope: { kind: 'project', id: projectId }, accessTokenId: id, expiresAt }
    );
  },
};

/** Returns the requested scope; undefined if the request names none, null for an explicitly unscoped token. */
function requestedScope(directory: Directory, requested: LoginBody['scope']): Scope | null | undefined {
  if (requested === undefined) return undefined;
  if (requested === 'unscoped' || 'unscoped' in requested) return null;
  if (requested.system?.all) return { kind: 'system', id: 'all' };
  if (requested.domain) {
    const { id, name } = requested.domain;
    const domain = id
      ? directory.state.domains.get(id)
      : [...directory.state.domains.values()].find((d) => d.name === name);
    if (!domain) throw authenticationError();
    return { kind: 'domain', id: domain.id };
  }
  const project = findRecord(directory, directory.state.projects, requested.project);
  if (!project || project.enabled === false) throw authenticationError();
  return { kind: 'project', id: project.id };
}

/** Returns the trustee's login with the trust's scope and, if impersonation is allowed, the trustor's identity. */
function actAsTrustor(directory: Directory, authenticated: AuthenticatedUser, id: string): AuthenticatedUser {
  const trust = directory.state.trusts.get(id);
  const expiresAt = trust?.expires_at ? Date.parse(trust.expires_at) : undefined;
  const isExpired = expiresAt !== undefined && expiresAt <= directory.now();
  const trustor = trust && directory.state.users.get(trust.trustor_user_id);
  if (!trust || isExpired || !trustor || trust.trustee_user_id !== authenticated.user.id || trust.remaining_uses === 0)
    throw authenticationError();
  const scope = trust.project_id ? ({ kind: 'project', id: trust.project_id } as const) : undefined;
  const user = trust.impersonation ? trustor : authenticated.user;
  if (!currentRoleIds(directory, { userId: user.id, scope: scope ?? null, trustId: id }))
    throw forbidden('Trustee has no delegated roles.');
  if (trust.remaining_uses !== null)
    directory.state.trusts.set(id, { ...trust, remaining_uses: trust.remaining_uses - 1 });
  return {
    methods: authenticated.methods,
    parentAuditId: authenticated.parentAuditId,
    user,
    scope,
    trustId: id,
    expiresAt: earlierTime(expiresAt, authenticated.expiresAt),
  };
}

/**
 * Authenticates a request and issues a token. Without a requested scope, the token has the scope of the credentials or
 * of the user's default project.
 *
 * @throws a 401 error if authentication fails, and 403 if a token must not be exchanged or a trust delegates no roles
 */
export async function logIn(directory: Directory, body: LoginBody, request: SignedRequest): Promise<Token> {
  const { identity, scope } = body;
  const authenticatedUsers = await Promise.all(
    identity.methods.map(
      (method) => Object.hasOwn(authenticators, method) && authenticators[method]?.(directory, { ...body, request }),
    ),
  );
  const authenticated = authenticatedUsers.find((user) => !!user);
  if (!authenticated || authenticated.user.enabled === false) throw authenticationError();
  const trustId = typeof scope === 'object' ? scope['OS-TRUST:trust']?.id : undefined;
  const actingUser = trustId === undefined ? authenticated : actAsTrustor(directory, authenticated, trustId);
  const { user, expiresAt, scope: credentialScope, ...origin } = actingUser;
  const requested = credentialScope ?? (origin.trustId ? null : requestedScope(directory, scope));
  const defaultScope = user.default_project_id ? ({ kind: 'project', id: user.default_project_id } as const) : null;
  const tokenScope = requested === undefined ? defaultScope : requested;
  const grant = { ...origin, userId: user.id, scope: tokenScope };
  const roleIds = currentRoleIds(directory, grant);
  if (!roleIds && requested !== undefined) throw authenticationError();
  return directory.issueToken({ ...grant, ...(!roleIds && { scope: null }), roleIds: roleIds ?? [] }, expiresAt);
}
