import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { checkOptions } from '@apistrata/compute-engine/api';
import { REQUEST_ID_HEADERS } from './request-id-headers.js';

/** Options for cross-origin requests from web pages (CORS). */
export interface CorsOptions {
  /** Origins that may call the API, such as `https://console.example.org`, or `*` for all origins. */
  readonly origins: readonly string[] | '*';
  /** Response headers that pages may read, in addition to this API's headers. Default: none. */
  readonly exposedHeaders?: readonly string[];
  /** How long a browser may cache the result of a preflight request, in seconds. Default: 600. */
  readonly maxAgeSeconds?: number;
}

const KNOWN_OPTIONS: Readonly<Record<keyof CorsOptions, true>> = {
  origins: true,
  exposedHeaders: true,
  maxAgeSeconds: true,
};

/** The API's response headers that browsers do not expose to pages by default. */
const EXPOSED_HEADERS = [
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

const ALLOWED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function checkOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin === origin) return origin;
  const hint =
    url && url.origin !== 'null' ? `write it as '${url.origin}'` : "an origin has the form 'https://example.org:8080'";
  throw new TypeError(`cors: '${origin}' is not an origin: ${hint}`);
}

/**
 * Creates a middleware that allows pages from other origins to call the API: it responds to preflight requests and adds
 * the CORS headers to all responses. Credentials such as cookies are never allowed, because pages send tokens in an
 * explicit header.
 *
 * @throws TypeError if an option is unknown or an origin is invalid
 */
export function crossOrigin(options: CorsOptions) {
  checkOptions('cors', options, KNOWN_OPTIONS);
  const { origins, exposedHeaders = [], maxAgeSeconds = 600 } = options;
  if (origins !== '*' && !Array.isArray(origins))
    throw new TypeError("cors: 'origins' must be a list of origins, or '*'");
  // The package `cors` is loaded only if cross-origin requests are allowed.
  const cors: typeof import('cors') = createRequire(import.meta.url)('cors');
  const corsMiddleware = cors({
    origin: origins === '*' ? '*' : origins.map(checkOrigin),
    methods: ALLOWED_METHODS,
    exposedHeaders: [...EXPOSED_HEADERS, ...exposedHeaders],
    maxAge: maxAgeSeconds,
  }) as (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

  return function crossOriginMiddleware(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) {
    // An OPTIONS request without preflight headers is handled like any other unknown method.
    const { origin, 'access-control-request-method': requested } = req.headers;
    if (req.method === 'OPTIONS' && (origin === undefined || requested === undefined)) next();
    else corsMiddleware(req, res, next);
  };
}
