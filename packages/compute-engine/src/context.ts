import type { Caller } from './model/index.js';

/** On whose behalf, and as part of which request, the engine works. */
export interface Context {
  readonly caller: Caller;
  /** Id of the request: the key of the instance action it causes. */
  readonly requestId: string;
  /** Whether the caller counts as an administrator of the whole system. */
  readonly isAdmin: boolean;
}

/**
 * The same request with an administrator's sight: for what services ask, who were let in by policy and own neither the
 * server nor what it uses.
 */
export function elevated(context: Context): Context {
  const { caller } = context;
  return { ...context, isAdmin: true, caller: { ...caller, roles: [...new Set([...caller.roles, 'admin'])] } };
}
