import type { ApiObserver, UnroutedPart } from './api-observer.js';
import type { Middleware } from './middleware.js';

/**
 * Reports the responses of a step to an observer; requests that the step passes on are reported elsewhere. Returns the
 * step unchanged without an observer.
 */
export function observeUnrouted(part: UnroutedPart, step: Middleware, observer: ApiObserver | undefined): Middleware {
  const notify = observer?.unrouted;
  if (!notify) return step;
  return (req, res, next) => {
    const startedAt = performance.now();
    let responses = true;
    step(req, res, (error) => {
      responses = false;
      next(error);
    });
    if (!responses) return;
    res.once('close', () => {
      if (responses) notify({ part, status: res.statusCode, ms: performance.now() - startedAt });
    });
  };
}
