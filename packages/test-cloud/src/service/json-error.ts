import type { NextFunction, Request, Response } from 'express';

/** Sends errors as JSON, with their status. */
export function jsonError(error: Error & { status?: number }, _req: Request, res: Response, _next: NextFunction): void {
  res.status(error.status ?? 500).json({ error: { code: error.status ?? 500, message: error.message } });
}
