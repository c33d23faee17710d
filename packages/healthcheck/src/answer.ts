import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerReport } from './detailed/server-report.js';
import type { HealthStatus } from './endpoint.js';
import { acceptedType, type MediaType } from './formats/accept.js';
import { htmlBody } from './formats/html.js';
import { jsonBody } from './formats/json.js';
import { plainBody } from './formats/plain.js';

type Body = (results: HealthStatus['results'], server?: ServerReport) => string;

interface Format {
  readonly contentType: string;
  readonly body: Body;
  /** False: looks the same in detailed mode, so nothing has to be collected for it. */
  readonly showsServer: boolean;
}

const FORMATS: Readonly<Record<MediaType, Format>> = {
  'text/plain': { contentType: 'text/plain; charset=UTF-8', body: plainBody, showsServer: false },
  'text/html': { contentType: 'text/html; charset=UTF-8', body: htmlBody, showsServer: true },
  'application/json': { contentType: 'application/json', body: jsonBody, showsServer: true },
};

/**
 * Answers a probe.
 *
 * @param collect gives the state of the process; undefined where the endpoint is not detailed
 * @returns a promise only where something has to be collected
 */
export function answer(
  req: IncomingMessage,
  res: ServerResponse,
  status: HealthStatus,
  collect?: () => Promise<ServerReport>,
): Promise<void> | undefined {
  if (req.method === 'HEAD') {
    send(res, status.available ? 204 : 503, FORMATS['text/plain'].contentType, '');
    return undefined;
  }
  const format = FORMATS[acceptedType(req.headers.accept)];
  const code = status.available ? 200 : 503;
  if (collect && format.showsServer) {
    return collect().then((server) => send(res, code, format.contentType, format.body(status.results, server)));
  }
  send(res, code, format.contentType, format.body(status.results));
  return undefined;
}

function send(res: ServerResponse, code: number, contentType: string, body: string): void {
  res.writeHead(code, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}
