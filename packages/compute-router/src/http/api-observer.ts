import type { NegotiatorOptions } from '@apistrata/microversion';
import type { RouterObserver } from '@apistrata/microversion-router';

/** Parts of the API that are not defined as operations: health endpoint, version documents, project quotas. */
export type UnroutedPart = 'health' | 'versions' | 'quotas';

/** A request that was served without an operation, and its response. */
export interface UnroutedRequest {
  readonly part: UnroutedPart;
  readonly status: number;
  /** Time between the arrival of the request and the writing of the response to the socket, in milliseconds. */
  readonly ms: number;
}

/** Callbacks that receive data about each request, for metrics and traces. All are optional. They must not throw. */
export interface ApiObserver extends RouterObserver {
  /** Called with each request's API version, and with true if the client requested this version explicitly. */
  readonly version?: NegotiatorOptions['onVersion'];
  /** Called for each response to a request that was served without an operation. */
  readonly unrouted?: (served: UnroutedRequest) => void;
}

/** Combines several observers into one. The `around` hook of the first observer is the outermost. */
export function combineObservers(observerOrList: ApiObserver | readonly ApiObserver[] = []): ApiObserver | undefined {
  const observers = 'at' in observerOrList ? observerOrList : [observerOrList];
  if (observers.length < 2) return observers[0];
  type Hook = 'stage' | 'request' | 'version' | 'unrouted';
  const combineHooks = <Name extends Hook>(name: Name): ApiObserver[Name] => {
    const hooks = observers.flatMap((observer) => observer[name] ?? []) as ((...args: unknown[]) => void)[];
    if (hooks.length < 2) return hooks[0] as ApiObserver[Name];
    return (...reported: unknown[]) => {
      for (const hook of hooks) hook(...reported);
    };
  };
  const around = observers.reduceRight<ApiObserver['around']>((inner, { around: outer }) => {
    if (!inner || !outer) return outer ?? inner;
    return (req, serve) => outer(req, () => inner(req, serve));
  }, undefined);
  return {
    around,
    stage: combineHooks('stage'),
    request: combineHooks('request'),
    version: combineHooks('version'),
    unrouted: combineHooks('unrouted'),
  };
}
