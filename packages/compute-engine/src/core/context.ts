import { randomUUID } from 'node:crypto';
import type { Caller } from '../model/index.js';

/** The caller and the request on whose behalf the engine acts. */
export interface Context {
  readonly caller: Caller;
  /** The request id, which is also the key of the instance action that the request starts. */
  readonly requestId: string;
  /** Whether the caller is an administrator of the whole system; equal to `caller.isAdmin`. */
  readonly isAdmin: boolean;
}

/** Creates the context of a request that the policies have already allowed. */
export function contextOf(caller: Caller, requestId: string): Context {
  return { caller, requestId, isAdmin: caller.isAdmin === true };
}

/**
 * Returns the context with administrator rights, for reading servers and resources of other projects after a policy has
 * allowed the operation. Other services are called on behalf of the engine, without the caller's token.
 */
export function elevatedContext({ caller: { token: _, ...caller }, requestId }: Context): Context {
  return contextOf({ ...caller, isAdmin: true }, requestId);
}

/**
 * Returns the context for background work on a user's resources. The caller is the owner of the resources, with
 * administrator rights and without a token.
 */
export function backgroundContext({ userId, projectId }: Pick<Caller, 'userId' | 'projectId'>): Context {
  return contextOf({ userId, projectId, roles: [], isAdmin: true }, `req-${randomUUID()}`);
}
