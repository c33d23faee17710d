import type { NextFunction, Request, Response } from 'express';

/** Middleware that replaces repeated slashes in paths with one slash. Some clients produce them when they join URLs. */
export function singleSlashes(req: Request, _res: Response, next: NextFunction): void {
  const queryIndex = req.url.search(/[?#]|$/);
  req.url = req.url.slice(0, queryIndex).replaceAll(/\/{2,}/g, '/') + req.url.slice(queryIndex);
  next();
}
