import { z } from 'zod';
import { ServiceError } from '../service/service-error.js';
import { DEFAULT_DOMAIN, type Directory } from './directory.js';
import type { Named, Scope, Token, User } from './identity-records.js';

const Domain = z.object({ id: z.string().optional(), name: z.string().optional() });
const UserRef = z.object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() });

/** The body of a login. */
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

type LoginBody = z.infer<typeof Login>['auth'];

export const refused = () =>
  new ServiceError(401, 'The request you have made requires authentication.', 'Unauthorized');

interface Proven {
  readonly user: User;
  readonly methods: readonly string[];
  /** The scope that the proof itself brings. */
  readonly scope?: Scope;
  readonly roleIds?: readonly string[];
  readonly applicationCredentialId?: string;
  readonly trustId?: string;
  readonly expiresAt?: number;
}

/** By id, or by name in a domain. */
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

/** How each method of authentication proves who somebody is. */
const proofs: Readonly<Record<string, (directory: Directory, identity: LoginBody['identity']) => Proven | undefined>> =
  {
    password(directory, { password }) {
      if (!password) return undefined;
      const user = find(directory, directory.state.users, password.user);
      return user && user.password === password.user.password ? { user, methods: ['password'] } : undefined;
    },
    token(directory, { token }) {
      const before = token && directory.token(token.id);
      const user = before && directory.state.users.get(before.userId);
      if (!user) return undefined;
      // What comes of an application credential stays within it.
      if (before.applicationCredentialId) return undefined;
      return { user, methods: [...new Set([...before.methods, 'token'])], expiresAt: before.expiresAt };
    },
    application_credential(directory, { application_credential: given }) {
      if (!given) return undefined;
      const owner = find(directory, directory.state.users, given.user);
      const credential = [...directory.state.credentials.values()].find(({ id, name, userId }) =>
        given.id === undefined ? name === given.name && userId === owner?.id : id === given.id,
      );
      const expired = credential?.expiresAt != null && credential.expiresAt <= directory.now();
      const user = credential && directory.state.users.get(credential.userId);
      if (!user || expired || credential.secret !== given.secret) return undefined;
      return {
        user,
        methods: ['application_credential'],
        scope: { kind: 'project', id: credential.projectId },
        roleIds: credential.roleIds,
        applicationCredentialId: credential.id,
      };
    },
  };

/** The scope that was asked for; undefined when nothing was said, null for none on purpose. */
function requestedScope(directory: Directory, requested: LoginBody['scope']): Scope | null | undefined {
  if (requested === undefined) return undefined;
  if (requested === 'unscoped' || 'unscoped' in requested) return null;
  if (requested.system?.all) return { kind: 'system', id: 'all' };
  if (requested.domain) {
    const { id, name } = requested.domain;
    const domain = id
      ? directory.state.domains.get(id)
      : [...directory.state.domains.values()].find((d) => d.name === name);
    if (!domain) throw refused();
    return { kind: 'domain', id: domain.id };
  }
  const project = find(directory, directory.state.projects, requested.project);
  if (!project || project.enabled === false) throw refused();
  return { kind: 'project', id: project.id };
}

/** What the trustee of a trust may by it: as the one who lends, with the roles that are lent, as long as they are. */
function underTrust(directory: Directory, proven: Proven, id: string): Proven {
  const trust = directory.state.trusts.get(id);
  const over = trust?.expires_at && Date.parse(trust.expires_at) <= directory.now();
  const trustor = trust && directory.state.users.get(trust.trustor_user_id);
  if (!trust || over || !trustor || trust.trustee_user_id !== proven.user.id || trust.remaining_uses === 0)
    throw refused();
  if (trust.remaining_uses !== null)
    directory.state.trusts.set(id, { ...trust, remaining_uses: trust.remaining_uses - 1 });
  return {
    ...proven,
    user: trust.impersonation ? trustor : proven.user,
    trustId: id,
    roleIds: directory.withImplied(trust.roles.map((role) => role.id)),
    ...(trust.project_id && { scope: { kind: 'project', id: trust.project_id } as const }),
  };
}

/** Checks a login and gives its token. Throws the 401, whatever is wrong. */
export function logIn(directory: Directory, { identity, scope }: LoginBody): Token {
  const proven = identity.methods
    .filter((method) => method !== 'totp')
    .map((method) => proofs[method]?.(directory, identity))
    .find((proof) => proof !== undefined);
  if (!proven || proven.user.enabled === false) throw refused();
  const lent =
    typeof scope === 'object' && scope['OS-TRUST:trust']
      ? underTrust(directory, proven, scope['OS-TRUST:trust'].id)
      : proven;
  const { user, methods, expiresAt, applicationCredentialId, trustId } = lent;
  const requested = lent.scope ?? requestedScope(directory, scope);
  const fallback = user.default_project_id ? ({ kind: 'project', id: user.default_project_id } as const) : null;
  const chosen = requested === undefined ? fallback : requested;
  const roleIds = lent.roleIds ?? (chosen ? directory.roleIdsOf(user.id, chosen) : []);
  if (requested && roleIds.length === 0) throw refused();
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
