import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { randomHex } from './generators.js';

/** The names of the presets, which define the headers and id formats of proxies, platforms and standards. */
export type PresetName = 'any' | 'nginx' | 'envoy' | 'aws' | 'heroku' | 'cloudflare' | 'w3c' | 'openstack';

/** The headers and the id format of a proxy, platform or standard. */
export interface Preset {
  readonly headers: readonly string[];
  readonly inbound: readonly string[];
  /** The header that contains the id in calls to other services. Default: the first inbound header. */
  readonly outgoing?: string;
  /** Whether a valid inbound id becomes the local id of the request. */
  readonly adopts: boolean;
  readonly generate: () => string;
  /** Extracts the id from the trimmed value of an inbound header. Returns undefined if the value is not valid. */
  readonly read: (value: string) => string | undefined;
  /** Returns the headers for calls to other services on behalf of a request. Default: the header `outgoing` with the id. */
  readonly outgoingHeaders?: (id: string, req: IncomingMessage) => Record<string, string>;
}

const X_REQUEST_ID = ['X-Request-Id'];

/**
 * Matches ids of up to 128 characters that are safe in logs, shells and HTML, including the separators that ids often
 * contain.
 */
const SAFE_ID = /^[\w.:=+/@~-]{1,128}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const AWS_ROOT = /(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})\s*(?:;|$)/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

function readWholeMatch(pattern: RegExp): Preset['read'] {
  return (value) => (pattern.test(value) ? value : undefined);
}

function readFirstGroup(pattern: RegExp, maxLength: number): Preset['read'] {
  return (value) => (value.length <= maxLength ? pattern.exec(value)?.[1] : undefined);
}

/** Returns the W3C trace context headers for a new span in the trace. Returns no headers if the id is not a trace id. */
function createTraceContext(id: string, req: IncomingMessage): Record<string, string> {
  if (!/^[0-9a-f]{32}$/.test(id)) return {};
  const inbound = String(req.headers.traceparent ?? '').trim();
  const continuesTrace = TRACEPARENT.exec(inbound)?.[1] === id;
  const traceState = continuesTrace ? req.headers.tracestate : undefined;
  // In version 00 of `traceparent`, the flags are the last field, but later versions may append fields.
  const flags = continuesTrace ? inbound.slice(53, 55) : '00';
  return { traceparent: `00-${id}-${randomHex(8)}-${flags}`, ...(traceState && { tracestate: String(traceState) }) };
}

/** All presets by name. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  any: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: randomUUID,
    read: readWholeMatch(SAFE_ID),
  },
  nginx: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: () => randomHex(16),
    read: readWholeMatch(/^[0-9a-f]{32}$/),
  },
  envoy: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: randomUUID,
    read: readWholeMatch(UUID),
  },
  aws: {
    headers: X_REQUEST_ID,
    inbound: ['X-Amzn-Trace-Id'],
    adopts: true,
    generate: () => `1-${Math.floor(Date.now() / 1000).toString(16)}-${randomHex(12)}`,
    read: readFirstGroup(AWS_ROOT, 512),
    outgoingHeaders: (id) => ({ 'X-Amzn-Trace-Id': `Root=${id}` }),
  },
  heroku: {
    headers: X_REQUEST_ID,
    inbound: X_REQUEST_ID,
    adopts: true,
    generate: randomUUID,
    read: readWholeMatch(/^[\w+/=-]{20,200}$/),
  },
  cloudflare: {
    headers: X_REQUEST_ID,
    inbound: ['CF-Ray'],
    outgoing: 'X-Request-Id',
    adopts: true,
    generate: randomUUID,
    read: readWholeMatch(/^[0-9a-f]{16}(?:-[A-Z]{3})?$/),
  },
  w3c: {
    headers: X_REQUEST_ID,
    inbound: ['traceparent'],
    adopts: true,
    generate: () => randomHex(16),
    read: readFirstGroup(TRACEPARENT, 512),
    outgoingHeaders: createTraceContext,
  },
  openstack: {
    headers: ['X-Service-Request-ID'],
    inbound: ['X-Service-Request-ID'],
    adopts: false,
    generate: () => `req-${randomUUID()}`,
    read: readWholeMatch(/^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  },
};
