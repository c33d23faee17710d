import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiSigError } from '../error-bodies/api-sig-error.js';
import { computeFault } from '../error-bodies/compute-fault.js';
import { RequestError } from '../errors.js';
import type { Version } from '../version.js';
import { type ErrorsOption, errorRenderer, sendError, storeNegotiationContext } from './error-response.js';
import { type NegotiatorOptions, negotiator, negotiatorOptionNames } from './negotiator.js';
import { rejectUnknownOptions } from './reject-unknown.js';
import type { VersionMiddleware } from './version-middleware.js';

/** Options for {@link microversion}. */
export interface MicroversionOptions extends NegotiatorOptions {
  /**
   * How errors are sent. Default `documented`: as compute faults for the service `compute` with the header style `strict`, and
   * as API-SIG errors for all other services.
   */
  readonly errors?: ErrorsOption;
}

/**
 * Middleware for Express 4 and 5. In bare `node:http`, pass the rest of the handler as `next`. Returns the result of `next`, or
 * undefined if the middleware has sent the response.
 */
export interface MicroversionMiddleware extends VersionMiddleware {
  <T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T): T | undefined;
  readonly negotiate: (req: IncomingMessage, res: ServerResponse) => Version;
}

/**
 * Creates middleware that negotiates the version of each request: it sets `req.microversion`, writes version headers and
 * `Vary` to every response, and rejects malformed versions with 400 and unsupported ones with 406.
 *
 * @throws TypeError or RangeError if an option is invalid; the message contains the fix
 *
 * @example
 * ```ts
 * import { byVersion, microversion, since, until } from '@apistrata/microversion';
 * import express from 'express';
 *
 * const app = express();
 * app.use(microversion({ service: 'todo', min: '1.1', max: '1.12' }));
 * app.get('/', byVersion([until('1.4', (_req, res) => void res.json([])), since('1.5', (_req, res) => void res.json({}))]));
 * ```
 */
export function microversion(options: MicroversionOptions): MicroversionMiddleware {
  rejectUnknownOptions('microversion', options, [...negotiatorOptionNames, 'errors']);
  const { errors = 'documented', ...negotiatorOptions } = options;
  const { apply, headerNames, served } = negotiator(negotiatorOptions);
  const isCompute = served.service.toLowerCase() === 'compute' && negotiatorOptions.headerStyle !== 'generic';
  const render = errorRenderer(errors, isCompute ? computeFault : apiSigError);
  const context = { render, served };

  function negotiate(req: IncomingMessage, res: ServerResponse): Version {
    const version = apply(req, res);
    storeNegotiationContext(req, context);
    return version;
  }

  function microversionMiddleware<T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T) {
    try {
      negotiate(req, res);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return sendError({ error, render }, req, res, next);
    }
    return next();
  }

  const headers = { read: headerNames, written: headerNames };
  return Object.assign(microversionMiddleware, { negotiate, errorBody: render, headers, pathSource: undefined });
}
