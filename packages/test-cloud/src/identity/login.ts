import { z } from 'zod';
import { ServiceError } from '../service/service-error.js';
import { DEFAULT_DOMAIN, type Directory } from './directory.js';
import type { Named, Scope, Token, User } from './identity-records.js';

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

export const rejected = () =>
  new ServiceError(401, 'The request you have made requires authentication.', 'Unauthorized');

interface Authenticated {
  readonly user: User;
  readonly methods: readonly string[];
  /** The scope that the credentials themselves determine. */
  readonly scope?: Scope;
  readonly roleIds?: readonly string[];
  readonly applicationCredentialId?: string;
  readonly trustId?: string;
  readonly expiresAt?: number;
}

/** Finds a record by id, or by name in a domain. */
function find<N extends Named & { readonly domain_id?: unknown }>(
  { state }: Directory,
  table: Map<string, N>,
  ref: { readonly id?: string; readonly name?: string; readonly domain?: { id?: string; name?: string } } | undefined,
): N | undefined {
  if (!ref) return undefined;
  if (ref.id !== undefined) return table.get(ref.id);
  const named = [...state.domains.values()].find(({ name }) => name === ref.domain?.name)?.id;
  const domainId = ref.domain?.id ?? named ?? DEFAULT_DOMAIN;
  return [...table.values()].find(({ name, domain_id }) => name === ref.name && domain_id === domainId);
}

/** Authentication methods: each returns the user that the credentials prove. */
const proofs: Readonly<
  Record<string, (directory: Directory, identity: LoginBody['identity']) => Awaitable<Authenticated | undefined>>
> = {
  async password(directory, { password }) {
    if (!password) return undefined;
    const user = find(directory, directory.state.users, password.user);
    const matches = await directory.passwords.matches(password.user.password, user?.password);
    return user && matches ? { user, methods: ['password'] } : undefined;
  },
  token(directory, { token }) {
    const before = token && directory.token(token.id);
    const user = before && directory.state.users.get(before.userId);
    if (!user) return undefined;
    // A token of an application credential cannot change its scope.
    if (before.applicationCredentialId) return undefined;
    return { user, methods: [...new Set([...before.methods, 'token'])], expiresAt: before.expiresAt };
  },
  async application_credential(directory, { application_credential: given }) {
    if (!given) return undefined;
    const owner = find(directory, directory.state.users, given.user);
    const credential = [...directory.state.credentials.values()].find(({ id, name, userId }) =>
      given.id === undefined ? name === given.name && userId === owner?.id : id === given.id,
    );
    const expired = credential?.expiresAt != null && credential.expiresAt <= directory.now();
    const user = credential && directory.state.users.get(credential.userId);
    const matches = await directory.passwords.matches(given.secret, credential?.secret);
    if (!user || expired || !matches) return undefined;
    return {
      user,
      methods: ['application_credential'],
      scope: { kind: 'project', id: credential.projectId },
      roleIds: credential.roleIds,
      applicationCredentialId: credential.id,
    };
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
    if (!domain) throw rejected();
    return { kind: 'domain', id: domain.id };
  }
  const project = find(directory, directory.state.projects, requested.project);
  if (!project || project.enabled === false) throw rejected();
  return { kind: 'project', id: project.id };
}

/** Replaces the identity of a trustee with that of the trustor, with the delegated roles that still exist. */
function actAsTrustor(directory: Directory, authenticated: Authenticated, id: string): Authenticated {
  const trust = directory.state.trusts.get(id);
  const over = trust?.expires_at && Date.parse(trust.expires_at) <= directory.now();
  const trustor = trust && directory.state.users.get(trust.trustor_user_id);
  if (!trust || over || !trustor || trust.trustee_user_id !== authenticated.user.id || trust.remaining_uses === 0)
    throw rejected();
  if (trust.remaining_uses !== null)
    directory.state.trusts.set(id, { ...trust, remaining_uses: trust.remaining_uses - 1 });
  return {
    ...authenticated,
    user: trust.impersonation ? trustor : authenticated.user,
    trustId: id,
    roleIds: directory.withImplied(trust.roles.map((role) => role.id)),
    ...(trust.project_id && { scope: { kind: 'project', id: trust.project_id } as const }),
  };
}

/** Checks an authentication request and creates its token. @throws a 401 error for every failure */
export async function logIn(directory: Directory, { identity, scope }: LoginBody): Promise<Token> {
  const authenticatedUsers = await Promise.all(
    identity.methods.map((method) => Object.hasOwn(proofs, method) && proofs[method]?.(directory, identity)),
  );
  const authenticated = authenticatedUsers.find((proof) => !!proof);
  if (!authenticated || authenticated.user.enabled === false) throw rejected();
  const delegated =
    typeof scope === 'object' && scope['OS-TRUST:trust']
      ? actAsTrustor(directory, authenticated, scope['OS-TRUST:trust'].id)
      : authenticated;
  const { user, methods, expiresAt, applicationCredentialId, trustId } = delegated;
  const requested = delegated.scope ?? requestedScope(directory, scope);
  const fallback = user.default_project_id ? ({ kind: 'project', id: user.default_project_id } as const) : null;
  const chosen = requested === undefined ? fallback : requested;
  const roleIds = delegated.roleIds ?? (chosen ? directory.roleIdsOf(user.id, chosen) : []);
  if (requested && roleIds.length === 0) throw rejected();
  return directory.issue({
    userId: user.id,
    scope: roleIds.length > 0 ? chosen : null,
    roleIds,
    methods,
    ...(applicationCredentialId && { applicationCredentialId }),
    ...(trustId && { trustId }),
    ...(expiresAt && { expiresAt }),
  });
}
