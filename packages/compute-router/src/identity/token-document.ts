import type { Caller } from '@apistrata/compute-engine';
import type { AccessRule } from '@apistrata/compute-engine/catalogs';

/** A token's caller and expiry time, as the identity service reports them. */
export interface TokenDocument {
  readonly caller: Caller;
  /** Time at which the token expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface NamedReference {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly domain?: NamedReference;
}

interface TokenBody {
  readonly user?: NamedReference;
  readonly project?: NamedReference;
  readonly system?: { readonly all?: unknown };
  readonly roles?: unknown;
  readonly expires_at?: unknown;
  readonly application_credential?: { readonly access_rules?: unknown } | null;
}

/**
 * Parses the response to `GET /v3/auth/tokens`. Returns undefined if it is not a token document. A project-scoped token
 * has the user's roles in the project; a system-scoped token has the user's system roles and sets `systemScope`. A
 * domain-scoped or unscoped token has no roles, because roles in a domain do not apply to projects.
 */
export function readTokenDocument(document: unknown, token: string): TokenDocument | undefined {
  const body = (document as { readonly token?: TokenBody } | null)?.token;
  const userId = nonEmptyString(body?.user?.id);
  const expiresAt = Date.parse(nonEmptyString(body?.expires_at) ?? '');
  if (!body || userId === undefined || Number.isNaN(expiresAt)) return undefined;
  const projectId = nonEmptyString(body.project?.id);
  const systemScope = body.system?.all === true;
  const roles = projectId !== undefined || systemScope ? roleNamesOf(body.roles) : [];
  const accessRules = body.application_credential?.access_rules ?? undefined;
  const caller: Caller = Object.freeze({
    userId,
    userName: nonEmptyString(body.user?.name),
    userDomainId: nonEmptyString(body.user?.domain?.id),
    projectId: projectId ?? '',
    projectName: nonEmptyString(body.project?.name),
    projectDomainId: nonEmptyString(body.project?.domain?.id),
    systemScope,
    roles: Object.freeze(roles),
    token,
    ...(accessRules !== undefined && { accessRules: accessRulesOf(accessRules) }),
  });
  return { caller, expiresAt };
}

const nonEmptyString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function roleNamesOf(roles: unknown): string[] {
  if (!Array.isArray(roles)) return [];
  return roles.map((role: NamedReference | null) => nonEmptyString(role?.name)).filter((name) => name !== undefined);
}

/** Returns the well-formed access rules. If the list is empty, the token does not allow any request. */
function accessRulesOf(rules: unknown): readonly AccessRule[] {
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: Partial<Record<keyof AccessRule, unknown>> | null) => {
    const [method, path, service] = [
      nonEmptyString(rule?.method),
      nonEmptyString(rule?.path),
      nonEmptyString(rule?.service),
    ];
    return method && path && service ? [{ method, path, service }] : [];
  });
}
