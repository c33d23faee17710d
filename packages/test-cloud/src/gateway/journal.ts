import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { redactSecrets } from '@apistrata/compute-router';
import type { TappedBodies } from './body-tap.js';
import { versionInHeader } from './http-rule.js';
import { type Redact, redactBody, redactHeaders } from './secrets.js';

/** A request and its response in the journal. */
export interface JournalEntry {
  /** The number of the entry, counted from 1. */
  readonly number: number;
  /** The time of the request on the cloud's clock, in milliseconds since the epoch. */
  readonly at: number;
  readonly service: string;
  readonly method: string;
  /** The path and query string of the request. */
  readonly url: string;
  readonly status: number;
  /** The microversion in the response; '' for services without microversions. */
  readonly version: string;
  readonly requestId: string;
  readonly userAgent: string;
  readonly durationMs: number;
  /** The headers, with names in lower case. `***` replaces secrets in headers and bodies. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The parsed JSON body; undefined for other bodies, and for bodies that exceed the size limit. */
  readonly requestBody: unknown;
  readonly responseBody: unknown;
}

/** A filter for journal entries; all conditions must match. */
export interface JournalQuery {
  readonly service?: string;
  readonly method?: string;
  /** A substring of the path and query string, or a pattern. */
  readonly url?: string | RegExp;
  /** A status, or a class of statuses such as `'4xx'`. The status 0 is a connection closed without a response. */
  readonly status?: number | `${1 | 2 | 3 | 4 | 5}xx`;
  /** Only entries with a greater number match. */
  readonly after?: number;
  /** A case-insensitive substring of the method, path, request id, user agent, request body or response body. */
  readonly text?: string;
}

const MAX_ENTRIES = 5000;
type MessagePart = 'requestHeaders' | 'responseHeaders' | 'requestBody' | 'responseBody';

/** A journal entry without headers and bodies. */
export type JournalHead = Omit<JournalEntry, MessagePart>;

/** A stored journal entry, whose headers and bodies are parsed on demand. */
export interface StoredEntry {
  readonly entry: JournalHead;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly responseHeaders: OutgoingHttpHeaders;
  readonly tapped: TappedBodies;
}

/** Returns an entry with headers and bodies. @param redact returns the replacement for a secret; default: `***` */
export function journalEntry(
  { entry, tapped, requestHeaders, responseHeaders }: StoredEntry,
  redact?: Redact,
): JournalEntry {
  return {
    ...entry,
    requestHeaders: redactHeaders(requestHeaders, redact),
    responseHeaders: redactHeaders(responseHeaders, redact),
    requestBody: redactBody(tapped.requestBody(), redact),
    responseBody: redactBody(tapped.responseBody(), redact),
  };
}

function containsText({ entry, tapped }: StoredEntry, text: string): boolean {
  const { method, url, requestId, userAgent } = entry;
  const includesText = (part: string) => part.toLowerCase().includes(text);
  return (
    includesText(`${method} ${url} ${requestId} ${userAgent}`) ||
    includesText(tapped.requestText()) ||
    includesText(tapped.responseText())
  );
}

/** Returns a predicate for the entries that match a query. */
function matcherFor({ service, method, url, status, after, text }: JournalQuery): (stored: StoredEntry) => boolean {
  const pattern = url instanceof RegExp ? new RegExp(url.source, url.flags.replace(/[gy]/g, '')) : undefined;
  const searchText = text?.toLowerCase();
  return (stored) => {
    const { entry } = stored;
    return (
      (after === undefined || entry.number > after) &&
      (service === undefined || entry.service === service) &&
      (method === undefined || entry.method === method.toUpperCase()) &&
      (status === undefined || entry.status === status || `${Math.floor(entry.status / 100)}xx` === status) &&
      (url === undefined || (pattern ? pattern.test(entry.url) : entry.url.includes(url as string))) &&
      (!searchText || containsText(stored, searchText))
    );
  };
}

export interface WatchedRequest {
  readonly service: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly tapped: TappedBodies;
  readonly now: () => number;
}

/** Reports a request when its response is complete or its connection is closed. The entry's number is always 0. */
export function watchRequest(
  { service, req, res, tapped, now }: WatchedRequest,
  onComplete: (stored: StoredEntry) => void,
): void {
  const at = now();
  const startedAt = performance.now();
  const { method = '', url: target = '', headers: requestHeaders } = req;
  // The URL may contain a console token.
  const url = redactSecrets(target);
  res.once('close', () => {
    const version = versionInHeader(res.getHeader('openstack-api-version'));
    const requestId = res.getHeader('x-compute-request-id') ?? res.getHeader('x-openstack-request-id') ?? '';
    const entry = {
      number: 0,
      at,
      service,
      method,
      url,
      status: res.writableEnded || res.headersSent ? res.statusCode : 0,
      version,
      requestId: String(requestId),
      userAgent: req.headers['user-agent'] ?? '',
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
    };
    onComplete({ entry, tapped, requestHeaders, responseHeaders: res.getHeaders() });
  });
}

/** The journal of the most recent requests, up to a few thousand. */
export class Journal {
  #entries: StoredEntry[] = [];
  #count = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();

  /** Records a request when its response is complete or its connection is closed. */
  watch(service: string, req: IncomingMessage, res: ServerResponse, tapped: TappedBodies, now: () => number): void {
    watchRequest({ service, req, res, tapped, now }, (recorded) => {
      const stored = { ...recorded, entry: { ...recorded.entry, number: ++this.#count } };
      this.#entries.push(stored);
      if (this.#entries.length > MAX_ENTRIES) this.#entries = this.#entries.slice(-MAX_ENTRIES / 2);
      for (const listener of this.#listeners) listener(journalEntry(stored));
    });
  }

  /** Returns the entries that match a query, oldest first. */
  list(query: JournalQuery = {}): readonly JournalEntry[] {
    return this.#entries.filter(matcherFor(query)).map((stored) => journalEntry(stored));
  }

  /** Returns the most recent entries that match a query, newest first. */
  latest(count: number, query: JournalQuery = {}): readonly JournalHead[] {
    return this.#entries
      .filter(matcherFor(query))
      .slice(-count)
      .reverse()
      .map(({ entry }) => entry);
  }

  /** Returns an entry by number; undefined if it is unknown or evicted. */
  get(number: number): JournalEntry | undefined {
    const stored = this.#entries.find(({ entry }) => entry.number === number);
    return stored && journalEntry(stored);
  }

  /** Calls `listener` for each new request. Returns a function that removes the listener. */
  subscribe(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  clear(): void {
    this.#entries = [];
  }
}
