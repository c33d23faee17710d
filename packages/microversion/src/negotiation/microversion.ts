import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiSigError } from '../error-bodies/api-sig-error.js';
import { computeFault } from '../error-bodies/compute-fault.js';
import { RequestError } from '../errors.js';
import { type NegotiatorOptions, negotiator, negotiatorOptionNames } from './negotiator.js';
import { noteNegotiating, type RefusalOptions, refusal, refusalOptionNames } from './refusal.js';
import { refuseUnknown } from './refuse-unknown.js';

/**
 * Options of {@link microversion}. `errorBody` defaults to the compute fault for a strict `compute` service and to the
 * API-SIG error for any other.
 */
export interface MicroversionOptions extends NegotiatorOptions, RefusalOptions {}

/**
 * Works as Express 4 and 5 middleware, and in bare `node:http` with the rest of the work as `next`, whose result it returns.
 * Undefined is returned when the request was answered here.
 */
export type MicroversionMiddleware = <T>(
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => T,
) => T | undefined;

/**
 * Negotiates the version of each request: `req.microversion`, version headers and `Vary` on every answer, 400 for what
 * is no version, 406 for one that is not served.
 *
 * @throws TypeError or RangeError that names the cure, when it is made, for options that make no sense
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
  refuseUnknown('microversion', options, [...negotiatorOptionNames, ...refusalOptionNames]);
  const { errors, errorBody, ...negotiation } = options;
  const negotiate = negotiator(negotiation);
  const isCompute = negotiate.served.service.toLowerCase() === 'compute' && negotiation.flavour !== 'generic';
  const refuse = refusal({ errors, errorBody }, isCompute ? computeFault : apiSigError);
  const negotiating = { refuse, served: negotiate.served };

  return function microversionMiddleware(req, res, next) {
    try {
      negotiate.apply(req, res);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return refuse(error, req, res, next);
    }
    noteNegotiating(req, negotiating);
    return next();
  };
}
