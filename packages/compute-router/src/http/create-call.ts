import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Engine } from '@apistrata/compute-engine';
import { requestBase } from '@apistrata/microversion';
import type { Identity } from '../identity/index.js';
import { ComputeCall, type Mount, type RouterContext } from './call.js';
import { Unauthorized } from './faults.js';
import { applyRateLimit, type RateLimiter } from './rate-limited.js';

/** Returns whether a value is a promise. An identity function may also return a promise that is not native. */
function isPromise(value: Caller | undefined | Promise<Caller | undefined>): value is Promise<Caller | undefined> {
  return typeof (value as { readonly then?: unknown } | undefined)?.then === 'function';
}

/**
 * The router options from which calls are created: the engine, the function that identifies the caller, and the rate
 * limit.
 */
export interface CallFactoryOptions {
  readonly engine: Engine;
  readonly identity: Identity;
  readonly rateLimit?: RateLimiter;
  readonly trustProxy?: boolean;
}

/**
 * Returns a function that converts an HTTP request to a `ComputeCall`: it authenticates the caller, applies the rate
 * limit, and selects the primary database or a replica. It does not use `await` for values that are not promises,
 * because each `await` delays the request.
 */
export function createCallFactory(
  { engine, identity, rateLimit, trustProxy }: CallFactoryOptions,
  shared: RouterContext,
) {
  function callOf(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller,
    mount: Mount,
  ): ComputeCall | Promise<ComputeCall> {
    const selectedEngine = req.method === 'GET' ? engine.reading(caller) : engine;
    const createCallWith = (selected: Engine) => new ComputeCall(req, res, caller, shared, mount, selected);
    return selectedEngine instanceof Promise ? selectedEngine.then(createCallWith) : createCallWith(selectedEngine);
  }

  function createRateLimitedCall(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | undefined,
    mount: Mount,
  ): ComputeCall | Promise<ComputeCall> {
    if (!caller) throw new Unauthorized(identity.uri ?? `${requestBase(req, trustProxy)}/identity`);
    const pendingVerdict = rateLimit?.count(caller);
    if (!pendingVerdict) return callOf(req, res, caller, mount);
    return pendingVerdict.then((result) => {
      applyRateLimit(result, res);
      return callOf(req, res, caller, mount);
    });
  }

  return (req: IncomingMessage, res: ServerResponse, mount: Mount): ComputeCall | Promise<ComputeCall> => {
    const caller = identity(req);
    return isPromise(caller)
      ? caller.then((identifiedCaller) => createRateLimitedCall(req, res, identifiedCaller, mount))
      : createRateLimitedCall(req, res, caller, mount);
  };
}
