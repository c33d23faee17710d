import type { IncomingMessage, ServerResponse } from 'node:http';

/** Turns an error into the answer. */
export type Fault = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

/** Is told of an error. */
export type OnError = (error: unknown, req: IncomingMessage) => void;

/**
 * A fault renderer that cannot fail: whatever `fault` throws becomes a 500 without a body and is told to `onError`, and
 * what that throws is dropped. An answer that has begun already is cut off.
 */
export function faultNet(fault: Fault, onError: OnError = () => {}): Fault {
  function tell(error: unknown, req: IncomingMessage): void {
    try {
      onError(error, req);
    } catch {
      // Nobody is left to hear of it.
    }
  }

  return function renderSafely(error, req, res) {
    try {
      if (!res.headersSent) return fault(error, req, res);
      tell(error, req);
    } catch (second) {
      tell(second, req);
    }
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    for (const name of ['Content-Type', 'Content-Encoding', 'Transfer-Encoding']) res.removeHeader(name);
    res.statusCode = 500;
    res.setHeader('Content-Length', 0);
    res.end();
  };
}
