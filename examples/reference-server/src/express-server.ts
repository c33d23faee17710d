import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * A server whose requests and responses already have the prototypes that Express would give them. Express sets them on
 * every request, which costs most of its time; here that changes nothing and is free.
 */
export function expressServer(app: Express): Server {
  function Request(this: unknown, ...args: ConstructorParameters<typeof IncomingMessage>) {
    return Reflect.construct(IncomingMessage, args, Request);
  }
  function Response(this: unknown, ...args: ConstructorParameters<typeof ServerResponse>) {
    return Reflect.construct(ServerResponse, args, Response);
  }
  Request.prototype = app.request;
  Response.prototype = app.response;
  const classes = { IncomingMessage: Request as never, ServerResponse: Response as never };
  // Requests that take too long are looked for this often.
  return createServer({ ...classes, connectionsCheckingInterval: 5_000 }, app);
}
