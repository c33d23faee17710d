import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { randomHex } from './generators.js';

/** Names of the presets: the headers and forms of ids that a proxy, a platform or a standard uses. */
export type PresetName = 'any' | 'nginx' | 'envoy' | 'aws' | 'heroku' | 'cloudflare' | 'w3c' | 'openstack';

/** How ids are formatted and transmitted. */
export interface Preset {
  readonly headers: readonly string[];
  readonly inbound: readonly string[];
  /** Omitted: the first inbound header. */
  readonly outgoing?: string;
  /** True: a valid inbound id becomes the id of the request. */
  readonly adopts: boolean;
  readonly generate: () => string;
  /** Returns the id in the trimmed value of an inbound header; undefined if it is not valid. */
  readonly read: (value: string) => string | undefined;
  /** Returns the headers of a call on behalf of the request, where it is more than the id in one header. */
  readonly carry?: (id: string, req: IncomingMessage) => Record<string, string>;
}

const X_REQUEST_ID = ['X-Request-Id'];

/** Characters that need no escaping in logs, URLs, shells and HTML, and separators of common ids; bounded in length. */
const SAFE = /^[\w.:=+/@~-]{1,128}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const AWS_ROOT = /(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})\s*(?:;|$)/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

function matching(pattern: RegExp): Preset['read'] {
  return (value) => (pattern.test(value) ? value : undefined);
}

function group(pattern: RegExp, longest: number): Preset['read'] {
  return (value) => (value.length <= longest ? pattern.exec(value)?.[1] : undefined);
}

/** Passes the trace on as the parent of a new span; an id of another form is not a trace, so none is passed on. */
function traceContext(id: string, req: IncomingMessage): Record<string, string> {
  if (!/^[0-9a-f]{32}$/.test(id)) return {};
  const inbound = String(req.headers.traceparent ?? '').trim();
  const continuesTrace = TRACEPARENT.exec(inbound)?.[1] === id;
  const state = continuesTrace ? req.headers.tracestate : undefined;
  // The flags are the last two digits of the version that is known.
  const flags = continuesTrace ? inbound.slice(53, 55) : '00';
  return { traceparent: `00-${id}-${randomHex(8)}-${flags}`, ...(state && { tracestate: String(state) }) };
}

/** The presets by name. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  any: { headers: X_REQUEST_ID, inbound: X_REQUEST_ID, adopts: true, generate: randomUUID, read: matching(SAFE) },
  nginx: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: () => randomHex(16),
    read: matching(/^[0-9a-f]{32}$/),
  },
  envoy: { headers: X_REQUEST_ID, inbound: X_REQUEST_ID, adopts: true, generate: randomUUID, read: matching(UUID) },
  aws: {
    headers: X_REQUEST_ID,
    inbound: ['X-Amzn-Trace-Id'],
    adopts: true,
    generate: () => `1-${Math.floor(Date.now() / 1000).toString(16)}-${randomHex(12)}`,
    read: group(AWS_ROOT, 512),
    carry: (id) => ({ 'X-Amzn-Trace-Id': `Root=${id}` }),
  },
  heroku: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: randomUUID,
    read: matching(/^[\w+/=-]{20,200}$/),
  },
  cloudflare: {
    headers: X_REQUEST_ID,
    inbound: ['CF-Ray'],
    outgoing: 'X-Request-Id',
    adopts: true,
    generate: randomUUID,
    read: matching(/^[0-9a-f]{16}(?:-[A-Z]{3})?$/),
  },
  w3c: {
    headers: X_REQUEST_ID,
    inbound: ['traceparent'],
    adopts: true,
    generate: () => randomHex(16),
    read: group(TRACEPARENT, 512),
    carry: traceContext,
  },
  openstack: {
    headers: ['X-Service-Request-ID'],
    inbound: ['X-Service-Request-ID'],
    adopts: false,
    generate: () => `req-${randomUUID()}`,
    read: matching(/^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  },
};
