import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Healthcheck } from './healthcheck.js';

/** Resolves to whether a health check has responded to a request, when the response is sent. */
export function served(health: Healthcheck, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  return new Promise((resolve, reject) => {
    res.once('close', () => resolve(true));
    health(req, res, (error) => {
      if (error) reject(error);
      else resolve(false);
    });
  });
}
