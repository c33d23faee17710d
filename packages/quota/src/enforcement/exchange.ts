import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its response. */
export interface Exchange<Req = IncomingMessage> {
  /** The argument of functions in the options: the Express or `node:http` request, or the context object of another framework. */
  readonly req: Req;
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
}
