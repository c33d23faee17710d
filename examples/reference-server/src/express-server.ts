import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Creates a server whose requests and responses already have the prototypes that Express would set. Express sets them
 * on every request, which accounts for most of its overhead; setting a prototype that is already set is a no-op.
 *
 * Derived classes create these objects, because an object that `Reflect.construct` creates for a plain function has a
 * separate hidden class, which prevents V8 from using inline caches.
 */
export function expressServer(app: Express): Server {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request);
  app.response = Object.setPrototypeOf(Response.prototype, app.response);
  // The interval at which Node checks whether requests have exceeded their timeouts.
  return createServer({ IncomingMessage: Request, ServerResponse: Response, connectionsCheckingInterval: 5_000 }, app);
}
