import type { IncomingMessage, ServerResponse } from 'node:http';
import { notInVersion } from './errors.js';
import { microversionOf } from './negotiation/negotiated.js';
import { negotiatingOf, type RefusalOptions, refusal, refusalOptionNames } from './negotiation/refusal.js';
import { refuseUnknown } from './negotiation/refuse-unknown.js';
import { at, type Window, type Windowed, windowsOf } from './windowed.js';

/** A handler of Express or `node:http`, whatever its request and response types. */
type Handler = (req: any, res: any, next: any) => unknown;

/**
 * One handler made of handlers with windows: the one of the negotiated version runs, outside of all windows the
 * answer is 404. `next` is handed through.
 *
 * Errors are treated as the `microversion()` before it treats its own, unless `options` say otherwise.
 *
 * @throws RangeError when windows overlap, when it is made
 * @throws TypeError on a request that no `microversion()` has seen
 */
export function byVersion<H extends Handler>(
  handlers: Window<H> | readonly Window<H>[],
  options: RefusalOptions = {},
): H {
  refuseUnknown('byVersion', options, refusalOptionNames);
  windowsOf<H>(handlers);
  const refuseDefault = refusal(options);
  const own = Object.keys(options).length > 0;

  return function byVersionHandler(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => unknown) {
    const version = microversionOf(req);
    if (!version) throw new TypeError('byVersion: no version was negotiated: put microversion() in front of it');
    const handler = at(handlers as Windowed<H>, version);
    if (handler) return handler(req, res, next);
    const negotiating = negotiatingOf(req);
    const refuse = (own ? undefined : negotiating?.refuse) ?? refuseDefault;
    return refuse(notInVersion(negotiating?.served), req, res, next);
  } as H;
}
