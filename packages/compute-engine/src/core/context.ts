import { randomUUID } from 'node:crypto';
import type { Caller } from '../model/index.js';

/** The caller and the request for which the engine works. */
export interface Context {
  readonly caller: Caller;
  /** Id of the request: the key of the instance action that it starts. */
  readonly requestId: string;
  /** Whether the caller is an administrator of the whole system; equal to `caller.isAdmin`. */
  readonly isAdmin: boolean;
}

/** Creates the context of a request that the policies have already allowed. */
export function contextOf(caller: Caller, requestId: string): Context {
  return { caller, requestId, isAdmin: caller.isAdmin === true };
}

/**
 * Returns the same request with administrator rights, for look-ups on behalf of callers that a policy has allowed although the
 * server and its resources belong to another project. Other services are called as the engine, without the caller's token.
 */
export function elevated({ caller: { token: _, ...caller }, requestId }: Context): Context {
  return contextOf({ ...caller, isAdmin: true }, requestId);
}

/**
 * Returns the context of background work on a user's resources: on behalf of the owner, with administrator rights, and
 * without a token.
 */
export function backgroundWork({ userId, projectId }: Pick<Caller, 'userId' | 'projectId'>): Context {
  return contextOf({ userId, projectId, roles: [], isAdmin: true }, `req-${randomUUID()}`);
}
