import type { ApiObserver, AsidePart } from './api-observer.js';
import type { Middleware } from './middleware.js';

/** Tells an observer of what a step answers; what it hands on is told elsewhere. Without an observer it stays as it is. */
export function observedAside(part: AsidePart, step: Middleware, observer: ApiObserver | undefined): Middleware {
  const tell = observer?.aside;
  if (!tell) return step;
  return (req, res, next) => {
    const begunAt = performance.now();
    let answers = true;
    step(req, res, (error) => {
      answers = false;
      next(error);
    });
    if (!answers) return;
    res.once('close', () => {
      if (answers) tell({ part, status: res.statusCode, ms: performance.now() - begunAt });
    });
  };
}
