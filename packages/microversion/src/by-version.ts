import type { IncomingMessage, ServerResponse } from 'node:http';
import { computeFault } from './error-bodies/compute-fault.js';
import { notInVersion } from './errors.js';
import {
  announceEnd,
  type ErrorsOption,
  type ErrorToSend,
  errorRenderer,
  negotiationContextOf,
  sendError,
} from './negotiation/error-response.js';
import { microversionOf } from './negotiation/negotiated.js';
import { rejectUnknownOptions } from './negotiation/reject-unknown.js';
import { at, type Window, type Windowed, windowsOf } from './windowed.js';

/** A request handler for Express, `node:http` or another framework, with any request and response types. */
export type Handler = (...args: any[]) => unknown;

/** Options for `byVersion()`. */
export interface ByVersionOptions {
  /**
   * The format of the 404 response if no handler serves the requested version. Default: the format of the preceding
   * middleware.
   */
  readonly errors?: ErrorsOption;
}

/** Returns the handler for the negotiated version, or an error if no handler serves it. */
export type SelectHandler<H extends Handler> = (req: IncomingMessage, res: ServerResponse) => H | ErrorToSend;

/**
 * Creates a function that selects the handler for the negotiated version of a request.
 *
 * @throws RangeError if windows overlap
 * @throws TypeError on a request without a negotiated version
 */
export function handlerSelector<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: ByVersionOptions,
): SelectHandler<H> {
  rejectUnknownOptions('byVersion', options, ['errors']);
  const windows = windowsOf<H>(handlers);
  const customRender = options.errors === undefined ? undefined : errorRenderer(options.errors, computeFault);
  return (req, res) => {
    const version = microversionOf(req);
    if (!version)
      throw new TypeError(
        'byVersion: no version was negotiated; mount versioning() or microversion() before the handler',
      );
    const handler = at(handlers as Windowed<H>, version);
    if (!handler) {
      const context = negotiationContextOf(req);
      return { error: notInVersion(context?.served), render: customRender ?? context?.render ?? computeFault };
    }
    announceEnd(req, res, windows, version);
    return handler;
  };
}

/**
 * Combines handlers that serve different version ranges (windows) into one handler. It calls the handler for the
 * negotiated version, or responds with 404 if no handler serves that version. `next` is passed to the handler.
 *
 * @throws RangeError on creation, if windows overlap
 * @throws TypeError on a request without a negotiated version
 */
export function byVersion<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: ByVersionOptions = {},
): H {
  const select = handlerSelector(handlers, options);
  return function byVersionHandler(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown) {
    const handlerOrError = select(req, res);
    return typeof handlerOrError === 'function'
      ? handlerOrError(req, res, next)
      : sendError(handlerOrError, req, res, next);
  } as H;
}
