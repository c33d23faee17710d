import type { IncomingMessage, ServerResponse } from 'node:http';

/** An HTTP request and its response. */
export interface Exchange<Req = IncomingMessage> {
  /**
   * The argument that functions in the options receive: the Express or `node:http` request, or another framework's
   * request or context.
   */
  readonly req: Req;
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
}
