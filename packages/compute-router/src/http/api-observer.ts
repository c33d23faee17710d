import type { NegotiatorOptions } from '@apistrata/microversion';
import type { RouterObserver } from '@apistrata/microversion/router';

/** What is answered beside the operations: health, the documents of versions, the API of project quotas. */
export type AsidePart = 'health' | 'versions' | 'quotas';

/** An answer that is no operation's. */
export interface ServedAside {
  readonly part: AsidePart;
  readonly status: number;
  /** From the arrival until the answer was handed over, in milliseconds. */
  readonly ms: number;
}

/** Looks on while the API serves: for metrics and traces. What is left out costs nothing. It throws nothing. */
export interface ApiObserver extends RouterObserver {
  /** Told of the version of each request, and whether that was asked for or is the one of those who ask for none. */
  readonly version?: NegotiatorOptions['onVersion'];
  /** Told of each answer that is no operation's. */
  readonly aside?: (served: ServedAside) => void;
}

/** Makes one observer of several. The first is the outermost around requests. */
export function apiObservedBy(given: ApiObserver | readonly ApiObserver[] = []): ApiObserver | undefined {
  const observers = 'at' in given ? given : [given];
  if (observers.length < 2) return observers[0];
  type Hook = 'stage' | 'request' | 'version' | 'aside';
  const all = <Name extends Hook>(name: Name): ApiObserver[Name] => {
    const hooks = observers.flatMap((observer) => observer[name] ?? []) as ((...told: unknown[]) => void)[];
    if (hooks.length < 2) return hooks[0] as ApiObserver[Name];
    return (...told: unknown[]) => {
      for (const hook of hooks) hook(...told);
    };
  };
  const around = observers.reduceRight<ApiObserver['around']>((inner, { around: outer }) => {
    if (!inner || !outer) return outer ?? inner;
    return (req, serve) => outer(req, () => inner(req, serve));
  }, undefined);
  return { around, stage: all('stage'), request: all('request'), version: all('version'), aside: all('aside') };
}
