import type { IncomingMessage } from 'node:http';
import type { Version } from '../version.js';

declare global {
  namespace Express {
    interface Request {
      /** The version this request is served at. Set by `microversion()`; undefined where it has not run. */
      microversion: Version;
    }
  }
}

type Carrier = IncomingMessage & { microversion?: Version };

/** The version a request is served at; undefined where nothing has negotiated it. The same as `req.microversion`. */
export function microversionOf(req: IncomingMessage): Version | undefined {
  return (req as Carrier).microversion;
}

/** Notes the version a request is served at. */
export function serveAt(req: IncomingMessage, version: Version): void {
  (req as Carrier).microversion = version;
}
