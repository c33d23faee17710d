import type { IncomingMessage } from 'node:http';
import type { Version } from '../version.js';

declare global {
  namespace Express {
    interface Request {
      /** The negotiated version of this request. Set by `versioning()` or `microversion()`; undefined before these run. */
      microversion: Version;
    }
  }
}

type RequestWithVersion = IncomingMessage & { microversion?: Version };

/** Returns the negotiated version of a request, like `req.microversion`; undefined if none was negotiated. */
export function microversionOf(req: IncomingMessage): Version | undefined {
  return (req as RequestWithVersion).microversion;
}

/** Stores the negotiated version of a request. */
export function storeVersion(req: IncomingMessage, version: Version): void {
  (req as RequestWithVersion).microversion = version;
}
