import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { checkOptions } from '@apistrata/compute-engine/api';
import { REQUEST_ID_HEADERS } from './request-id-headers.js';

/** Which pages in browsers may be clients of the API. */
export interface CorsOptions {
  /** Origins of these pages, `https://console.example.org`; or `*` for all pages there are. */
  readonly origins: readonly string[] | '*';
  /** Headers of answers that pages may read, beside those of this API. Default: none. */
  readonly exposedHeaders?: readonly string[];
  /** How long a browser may remember what it was told, in seconds. Default 600. */
  readonly maxAgeSeconds?: number;
}

const OPTIONS: Readonly<Record<keyof CorsOptions, true>> = { origins: true, exposedHeaders: true, maxAgeSeconds: true };

/** What clients of this API read of its answers' heads, apart from what browsers show every page. */
const EXPOSED = [
  ...REQUEST_ID_HEADERS,
  'OpenStack-API-Version',
  'X-OpenStack-Nova-API-Version',
  'Service-API-Version',
  'X-Service-API-Version',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function checkOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin) return origin;
  const cure =
    url && url.origin !== 'null' ? `write it as '${url.origin}'` : "it looks like 'https://example.org:8080'";
  throw new TypeError(`cors: '${origin}' is no origin: ${cure}`);
}

/**
 * Lets pages of other origins call the API: answers their preflight requests and marks all answers for them. Tokens go
 * in a header that pages have to set themselves, so that cookies and the like are never asked for.
 *
 * @throws TypeError for unknown options and for texts that are no origins, when it is made
 */
export function crossOrigin(options: CorsOptions) {
  checkOptions('cors', options, OPTIONS);
  const { origins, exposedHeaders = [], maxAgeSeconds = 600 } = options;
  if (origins !== '*' && !Array.isArray(origins)) throw new TypeError("cors: 'origins' is a list of origins, or '*'");
  // Loaded for those who let pages in.
  const cors: typeof import('cors') = createRequire(import.meta.url)('cors');
  const answer = cors({
    origin: origins === '*' ? '*' : origins.map(checkOrigin),
    methods: METHODS,
    exposedHeaders: [...EXPOSED, ...exposedHeaders],
    maxAge: maxAgeSeconds,
  }) as (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

  return function crossOriginMiddleware(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) {
    // OPTIONS that no browser sends before a request is a method like any other that the API does not know.
    const { origin, 'access-control-request-method': requested } = req.headers;
    if (req.method === 'OPTIONS' && (origin === undefined || requested === undefined)) next();
    else answer(req, res, next);
  };
}
