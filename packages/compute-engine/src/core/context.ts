import { randomUUID } from 'node:crypto';
import type { Caller } from '../model/index.js';

/** On whose behalf, and as part of which request, the engine works. */
export interface Context {
  readonly caller: Caller;
  /** Id of the request: the key of the instance action it causes. */
  readonly requestId: string;
  /** Whether the caller counts as an administrator of the whole system: always what `caller.isAdmin` says. */
  readonly isAdmin: boolean;
}

/** A request of somebody about whom the policies have decided. */
export function contextOf(caller: Caller, requestId: string): Context {
  return { caller, requestId, isAdmin: caller.isAdmin === true };
}

/**
 * The same request with an administrator's sight: for what services ask, who were let in by policy and own neither the
 * server nor what it uses. Other services are asked in the engine's name, not with the token of the one who asked.
 */
export function elevated({ caller: { token: _, ...caller }, requestId }: Context): Context {
  return contextOf({ ...caller, isAdmin: true }, requestId);
}

/** The engine itself, working on what belongs to somebody: in the owner's name, with every right, and without a token. */
export function ownWork({ userId, projectId }: Pick<Caller, 'userId' | 'projectId'>): Context {
  return contextOf({ userId, projectId, roles: [], isAdmin: true }, `req-${randomUUID()}`);
}
