import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and its response. */
export interface Exchange<Req = IncomingMessage> {
  /** The request that functions of the options receive: of Express and `node:http`, or the context of another framework. */
  readonly req: Req;
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
}
