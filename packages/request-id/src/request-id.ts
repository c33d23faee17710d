import type { IncomingMessage, ServerResponse } from 'node:http';
import { runWith } from './current.js';
import { type Issued, issue, issuedTo } from './issued.js';
import { type RequestIdOptions, type Settings, settingsFrom } from './settings.js';

/** Works as Express 4 and 5 middleware, and in bare `node:http` with the rest of the work as `next`, whose result it returns. */
export type RequestIdMiddleware = <T>(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => T) => T;

/**
 * Gives every request a local id of its own, reads the caller's global id, and answers with the local one.
 *
 * The answer headers are set before the handler runs: what the handler sets itself replaces them, header by header.
 * A header that is there already is kept, unless an outer `requestId()` wrote it: then the inner id is returned.
 *
 * @throws TypeError for an unknown option or an invalid header name, when it is made
 *
 * @example
 * ```ts
 * import { requestId, requestIdOf } from '@apistrata/request-id';
 * import express from 'express';
 *
 * const app = express();
 * app.use(requestId());
 * app.get('/', (req, res) => void res.json(requestIdOf(req)));
 * ```
 */
export function requestId(options: RequestIdOptions = {}): RequestIdMiddleware {
  const settings = settingsFrom(options);

  return function requestIdMiddleware(req, res, next) {
    const outer = issuedTo(req);
    // Ids that genReqId reserved for a log are taken over, so that log and answer show the same one.
    const local = outer && !outer.settings ? outer.ids.local : settings.generate(req);
    const issued = { ids: { local, global: globalIdOf(req, settings) }, settings };
    issue(req, issued);
    if (!res.headersSent) answerWith(res, issued, outer);
    return settings.context ? runWith(issued, next) : next();
  };
}

function globalIdOf(req: IncomingMessage, settings: Settings): string | undefined {
  for (const { name, key } of settings.inbound) {
    const value = req.headers[key];
    if (value === undefined || value === '') continue;
    // Repeated lines arrive joined by a comma, which no id contains.
    const text = String(value);
    const trimmed = text.trim();
    if (settings.accept(trimmed)) return trimmed;
    settings.onDropped?.({ header: name, value: text, req });
  }
  return undefined;
}

function answerWith(
  res: ServerResponse,
  { ids, settings }: Issued & { readonly settings: Settings },
  outer: Issued | undefined,
): void {
  if (outer?.settings) {
    for (const { name, key } of outer.settings.headers) {
      if (res.getHeader(key) === outer.ids.local) res.setHeader(name, ids.local);
    }
  }
  for (const { name, key } of settings.headers) if (!res.hasHeader(key)) res.setHeader(name, ids.local);
}
