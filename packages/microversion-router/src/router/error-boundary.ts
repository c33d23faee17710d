import type { IncomingMessage, ServerResponse } from 'node:http';

/** Sends the response for an error. */
export type Fault = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

/** Receives errors, for example to log them. */
export type OnError = (error: unknown, req: IncomingMessage) => void;

/**
 * Wraps a function that sends error responses, so that it cannot throw: if `fault` throws, the response is a 500
 * without a body and the error is passed to `onError`, whose own errors are ignored. A response that has started is
 * aborted.
 */
export function errorBoundary(fault: Fault, onError: OnError = () => {}): Fault {
  function reportSafely(error: unknown, req: IncomingMessage): void {
    try {
      onError(error, req);
    } catch {
      // The error is ignored, because no other code can receive it.
    }
  }

  return function renderSafely(error, req, res) {
    try {
      if (!res.headersSent) return fault(error, req, res);
      reportSafely(error, req);
    } catch (faultError) {
      reportSafely(faultError, req);
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
