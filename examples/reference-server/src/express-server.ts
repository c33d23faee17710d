import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * A server whose requests and responses already have the prototypes that Express would give them. Express sets them on
 * every request, which costs most of its time; here that changes nothing and is free.
 *
 * They are made by derived classes: an object that `Reflect.construct` makes for a plain function has a hidden class of its
 * own, with which nothing that is asked of it can be remembered by the engine.
 */
export function expressServer(app: Express): Server {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request);
  app.response = Object.setPrototypeOf(Response.prototype, app.response);
  // Requests that take too long are looked for this often.
  return createServer({ IncomingMessage: Request, ServerResponse: Response, connectionsCheckingInterval: 5_000 }, app);
}
