import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerReport } from './detailed/server-report.js';
import type { HealthStatus } from './endpoint.js';
import type { ResponseExtras } from './extras.js';
import { acceptedType, type MediaType } from './formats/accept.js';
import { htmlBody } from './formats/html.js';
import { jsonBody } from './formats/json.js';
import { JSON_FORMATS } from './formats/json-formats.js';
import { plainBody } from './formats/plain.js';

type RenderBody = (results: HealthStatus['results'], extras: ResponseExtras) => string;

interface Format {
  readonly contentType: string;
  readonly body: RenderBody;
  /** Whether, in this format, the bodies of detailed endpoints contain the state of the process. */
  readonly showsServer: boolean;
}

const FORMATS: Readonly<Record<Exclude<MediaType, 'application/health+json'>, Format>> = {
  'text/plain': { contentType: 'text/plain; charset=UTF-8', body: plainBody, showsServer: false },
  'text/html': { contentType: 'text/html; charset=UTF-8', body: htmlBody, showsServer: true },
  'application/json': { contentType: 'application/json', body: jsonBody, showsServer: true },
};

/**
 * Sends the response to a probe.
 *
 * @param extras content in addition to the results
 * @param collect collects the state of the process; undefined if the endpoint is not detailed
 * @returns a promise only if the state of the process is collected
 */
export function healthResponse(
  req: IncomingMessage,
  res: ServerResponse,
  status: HealthStatus,
  extras: ResponseExtras,
  collect?: () => Promise<ServerReport>,
): Promise<void> | undefined {
  if (req.method === 'HEAD') {
    sendBody(res, status.available ? 204 : 503, FORMATS['text/plain'].contentType, '');
    return undefined;
  }
  const type = acceptedType(req.headers.accept, extras.named !== undefined);
  const code = status.available ? 200 : 503;
  const jsonFormat = type === 'application/health+json' ? 'health+json' : type === 'application/json' && extras.format;
  if (jsonFormat && jsonFormat !== 'documented') {
    const { contentType, body } = JSON_FORMATS[jsonFormat](status.results, extras);
    sendBody(res, code, contentType, body);
    return undefined;
  }
  const format = FORMATS[type as keyof typeof FORMATS];
  if (collect && format.showsServer) {
    return collect().then((server) =>
      sendBody(res, code, format.contentType, format.body(status.results, { ...extras, server })),
    );
  }
  sendBody(res, code, format.contentType, format.body(status.results, extras));
  return undefined;
}

/** The headers of the HTML page, which has inline styles and loads no other resources. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const;

export function sendBody(res: ServerResponse, code: number, contentType: string, body: string): void {
  const pageHeaders = contentType === FORMATS['text/html'].contentType && PAGE_HEADERS;
  res.writeHead(code, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body), ...pageHeaders });
  res.end(body);
}
