import type { IncomingMessage, ServerResponse } from 'node:http';
import { microversionOf } from '../negotiation/negotiated.js';
import type { Migrations } from './migrations.js';

type Next = (error?: unknown) => void;
type RequestWithBody = IncomingMessage & { body?: unknown };
type ResponseWithJson = ServerResponse & { json?: (body: unknown) => unknown };

/**
 * Creates Express middleware that converts the bodies of one route. It converts `req.body` to the newest format, and
 * the value that the handler passes to `res.json()` to the format of the request's version. Responses with an error
 * status are not converted.
 *
 * @param name the operation name that the migrations use
 * @throws TypeError if no change converts the operation, or, on a request, if no version was negotiated
 */
export function migrated(history: Migrations, name: string) {
  if (!history.names.includes(name))
    throw new TypeError(`migrated: no change converts the operation '${name}' (known: ${history.names.join(', ')})`);
  return function migratedRoute(req: IncomingMessage, res: ServerResponse, next: Next): void {
    const version = microversionOf(req);
    if (!version) throw new TypeError('migrated: no version was negotiated; mount versioning() before migrated()');
    const conversions = history.at(name, version);
    const { request, response } = conversions ?? {};
    const [incoming, outgoing] = [req as RequestWithBody, res as ResponseWithJson];
    if (request && incoming.body !== undefined) incoming.body = request(incoming.body);
    const sendJson = outgoing.json?.bind(res);
    if (response && sendJson) outgoing.json = (body) => sendJson(res.statusCode < 400 ? response(body) : body);
    next();
  };
}
