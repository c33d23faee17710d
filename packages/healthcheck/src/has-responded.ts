import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Healthcheck } from './healthcheck.js';

/**
 * Passes a request to a health check. Resolves to true after the health check has responded, or to false if it has
 * passed the request on.
 */
export function hasResponded(health: Healthcheck, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  return new Promise((resolve, reject) => {
    res.once('close', () => resolve(true));
    health(req, res, (error) => {
      if (error) reject(error);
      else resolve(false);
    });
  });
}
