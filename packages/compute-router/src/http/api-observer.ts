import type { NegotiatorOptions } from '@apistrata/microversion';
import type { RouterObserver } from '@apistrata/microversion/router';

/** Parts of the API that are served without an operation: health, version documents, project quotas. */
export type UnroutedPart = 'health' | 'versions' | 'quotas';

/** A response that does not belong to an operation. */
export interface UnroutedRequest {
  readonly part: UnroutedPart;
  readonly status: number;
  /** Time from the arrival of the request until the response was handed to the socket, in milliseconds. */
  readonly ms: number;
}

/** Observes served requests, for metrics and traces. Omitted functions cost nothing. The functions must not throw. */
export interface ApiObserver extends RouterObserver {
  /** Called with the version of each request, and with whether the client requested it. */
  readonly version?: NegotiatorOptions['onVersion'];
  /** Called for each response that does not belong to an operation. */
  readonly unrouted?: (served: UnroutedRequest) => void;
}

/** Combines several observers into one. The first observer's `around` hook is the outermost. */
export function combineObservers(given: ApiObserver | readonly ApiObserver[] = []): ApiObserver | undefined {
  const observers = 'at' in given ? given : [given];
  if (observers.length < 2) return observers[0];
  type Hook = 'stage' | 'request' | 'version' | 'unrouted';
  const all = <Name extends Hook>(name: Name): ApiObserver[Name] => {
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
  return { around, stage: all('stage'), request: all('request'), version: all('version'), unrouted: all('unrouted') };
}
