import type { Caller } from '@apistrata/compute-engine';

/** A token as the identity service describes it. */
export interface TokenDocument {
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface Named {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly domain?: Named;
}

interface Wire {
  readonly user?: Named;
  readonly project?: Named;
  readonly system?: { readonly all?: unknown };
  readonly roles?: unknown;
  readonly expires_at?: unknown;
}

/**
 * Reads the answer to `GET /v3/auth/tokens`; undefined when it is none. A token of a project gives its roles there, one
 * of the whole system its roles with `systemScope`; any other (of a domain, or without scope) gives no role at all,
 * because a role in a domain says nothing about projects.
 */
export function readTokenDocument(document: unknown, token: string): TokenDocument | undefined {
  const wire = (document as { readonly token?: Wire } | null)?.token;
  const userId = text(wire?.user?.id);
  const expiresAt = Date.parse(text(wire?.expires_at) ?? '');
  if (!wire || userId === undefined || Number.isNaN(expiresAt)) return undefined;
  const projectId = text(wire.project?.id);
  const systemScope = wire.system?.all === true;
  const roles = projectId !== undefined || systemScope ? namesOf(wire.roles) : [];
  const caller: Caller = Object.freeze({
    userId,
    userName: text(wire.user?.name),
    userDomainId: text(wire.user?.domain?.id),
    projectId: projectId ?? '',
    projectName: text(wire.project?.name),
    projectDomainId: text(wire.project?.domain?.id),
    systemScope,
    roles: Object.freeze(roles),
    token,
  });
  return { caller, expiresAt };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function namesOf(roles: unknown): string[] {
  if (!Array.isArray(roles)) return [];
  return roles.map((role: Named | null) => text(role?.name)).filter((name) => name !== undefined);
}
