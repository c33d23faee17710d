import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { hidingSecrets } from '@apistrata/compute-router';
import type { Tapped } from './body-tap.js';
import { versionIn } from './http-rule.js';
import { type Hide, headersWithoutSecrets, withoutSecrets } from './secrets.js';

/** One request as it went by. */
export interface JournalEntry {
  /** Ascending from 1. */
  readonly number: number;
  /** Milliseconds since the epoch, in the cloud's time. */
  readonly at: number;
  readonly service: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly status: number;
  /** Microversion that was answered in; '' where the service has none. */
  readonly version: string;
  readonly requestId: string;
  readonly userAgent: string;
  readonly durationMs: number;
  /** Names in lower case. Secrets are `***` here and in the bodies. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** JSON; undefined for anything else, and for what is too long to keep. */
  readonly requestBody: unknown;
  readonly responseBody: unknown;
}

/** Which requests are meant; everything given must hold. */
export interface JournalQuery {
  readonly service?: string;
  readonly method?: string;
  /** Part of the path and query, or a pattern. */
  readonly url?: string | RegExp;
  /** A status, or all of a kind: `'4xx'`. 0 is a connection that was cut. */
  readonly status?: number | `${1 | 2 | 3 | 4 | 5}xx`;
  /** Only entries after this number. */
  readonly after?: number;
  /** Text that is somewhere in the method, path, request id, user agent or one of the bodies, in any case. */
  readonly text?: string;
}

const MOST_ENTRIES = 5000;
type Sides = 'requestHeaders' | 'responseHeaders' | 'requestBody' | 'responseBody';

/** What is known of a request without reading what it said. */
export type JournalHead = Omit<JournalEntry, Sides>;

/** An entry whose headers and bodies are read only when somebody wants them. */
export interface JournalLine {
  readonly entry: JournalHead;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly responseHeaders: OutgoingHttpHeaders;
  readonly tapped: Tapped;
}

/** Reads a line. @param hide names what stands for a secret; default `***` */
export function journalEntry(
  { entry, tapped, requestHeaders, responseHeaders }: JournalLine,
  hide?: Hide,
): JournalEntry {
  return {
    ...entry,
    requestHeaders: headersWithoutSecrets(requestHeaders, hide),
    responseHeaders: headersWithoutSecrets(responseHeaders, hide),
    requestBody: withoutSecrets(tapped.requestBody(), hide),
    responseBody: withoutSecrets(tapped.responseBody(), hide),
  };
}

function saysText({ entry, tapped }: JournalLine, text: string): boolean {
  const { method, url, requestId, userAgent } = entry;
  const has = (part: string) => part.toLowerCase().includes(text);
  return has(`${method} ${url} ${requestId} ${userAgent}`) || has(tapped.requestText()) || has(tapped.responseText());
}

/** Which entries a query wants. */
function matches({ service, method, url, status, after, text }: JournalQuery): (line: JournalLine) => boolean {
  const pattern = url instanceof RegExp ? new RegExp(url.source, url.flags.replace(/[gy]/g, '')) : undefined;
  const sought = text?.toLowerCase();
  return (line) => {
    const { entry } = line;
    return (
      (after === undefined || entry.number > after) &&
      (service === undefined || entry.service === service) &&
      (method === undefined || entry.method === method.toUpperCase()) &&
      (status === undefined || entry.status === status || `${Math.floor(entry.status / 100)}xx` === status) &&
      (url === undefined || (pattern ? pattern.test(entry.url) : entry.url.includes(url as string))) &&
      (!sought || saysText(line, sought))
    );
  };
}

export interface Watched {
  readonly service: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly tapped: Tapped;
  readonly now: () => number;
}

/** Tells of a request when its answer is out, or its connection gone; its number is 0. */
export function watchRequest({ service, req, res, tapped, now }: Watched, done: (line: JournalLine) => void): void {
  const at = now();
  const begun = performance.now();
  const { method = '', url: target = '', headers: requestHeaders } = req;
  // A console's token is a secret too.
  const url = hidingSecrets(target);
  res.once('close', () => {
    const version = versionIn(res.getHeader('openstack-api-version'));
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
      durationMs: Math.round((performance.now() - begun) * 100) / 100,
    };
    done({ entry, tapped, requestHeaders, responseHeaders: res.getHeaders() });
  });
}

/** The last few thousand requests. */
export class Journal {
  #lines: JournalLine[] = [];
  #count = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();

  /** Notes a request when its answer is out, or its connection gone. */
  watch(service: string, req: IncomingMessage, res: ServerResponse, tapped: Tapped, now: () => number): void {
    watchRequest({ service, req, res, tapped, now }, (noted) => {
      const line = { ...noted, entry: { ...noted.entry, number: ++this.#count } };
      this.#lines.push(line);
      if (this.#lines.length > MOST_ENTRIES) this.#lines = this.#lines.slice(-MOST_ENTRIES / 2);
      for (const listener of this.#listeners) listener(journalEntry(line));
    });
  }

  /** Oldest first. */
  list(query: JournalQuery = {}): readonly JournalEntry[] {
    return this.#lines.filter(matches(query)).map((line) => journalEntry(line));
  }

  /** The newest ones that a query wants, newest first. */
  latest(count: number, query: JournalQuery = {}): readonly JournalHead[] {
    return this.#lines
      .filter(matches(query))
      .slice(-count)
      .reverse()
      .map(({ entry }) => entry);
  }

  /** By number; undefined when it is not there, or no longer. */
  get(number: number): JournalEntry | undefined {
    const line = this.#lines.find(({ entry }) => entry.number === number);
    return line && journalEntry(line);
  }

  /** Calls `listener` for every request from now on; the result ends that. */
  follow(listener: (entry: JournalEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  clear(): void {
    this.#lines = [];
  }
}
