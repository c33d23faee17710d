import type { ApiObserver, UnroutedPart } from './api-observer.js';
import type { Middleware } from './middleware.js';

/**
 * Wraps a middleware so that its responses are reported to the observer. Requests that it passes to the next
 * middleware are not reported. Without an observer, returns the middleware unchanged.
 */
export function observeUnrouted(part: UnroutedPart, step: Middleware, observer: ApiObserver | undefined): Middleware {
  const notify = observer?.unrouted;
  if (!notify) return step;
  return (req, res, next) => {
    const startedAt = performance.now();
    let isHandled = true;
    step(req, res, (error) => {
      isHandled = false;
      next(error);
    });
    if (!isHandled) return;
    res.once('close', () => {
      if (isHandled) notify({ part, status: res.statusCode, ms: performance.now() - startedAt });
    });
  };
}
