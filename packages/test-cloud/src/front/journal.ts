import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tapped } from './body-tap.js';

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
  /** Without passwords and tokens. */
  readonly requestBody: unknown;
  readonly responseBody: unknown;
}

export interface JournalQuery {
  readonly service?: string;
  readonly method?: string;
  /** Part of the path and query, or a pattern. */
  readonly url?: string | RegExp;
  readonly status?: number;
}

const MOST_ENTRIES = 5000;
const SECRETS = new Set(['password', 'original_password', 'secret', 'adminPass', 'admin_pass', 'private_key']);

/** The body without what nobody else should read. */
function withoutSecrets(value: unknown, key = ''): unknown {
  if (SECRETS.has(key) && typeof value === 'string') return '***';
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item));
  if (typeof value !== 'object' || value === null) return value;
  // The id of a token is the token.
  const isToken = key === 'token' && Object.keys(value).length === 1;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isToken && name === 'id' ? '***' : withoutSecrets(item, name)]),
  );
}

/** An entry whose bodies are read only when somebody wants them. */
interface Line {
  readonly entry: Omit<JournalEntry, 'requestBody' | 'responseBody'>;
  readonly tapped: Tapped;
}

function whole({ entry, tapped }: Line): JournalEntry {
  return {
    ...entry,
    requestBody: withoutSecrets(tapped.requestBody()),
    responseBody: withoutSecrets(tapped.responseBody()),
  };
}

/** The last few thousand requests. */
export class Journal {
  #lines: Line[] = [];
  #count = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();

  /** Notes a request when its answer is out, or its connection gone. */
  watch(service: string, req: IncomingMessage, res: ServerResponse, tapped: Tapped, now: () => number): void {
    const at = now();
    const begun = performance.now();
    const { method = '', url = '' } = req;
    res.once('close', () => {
      const version = String(res.getHeader('openstack-api-version') ?? '')
        .split(' ')
        .at(-1)!;
      const requestId = res.getHeader('x-compute-request-id') ?? res.getHeader('x-openstack-request-id') ?? '';
      const entry = {
        number: ++this.#count,
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
      const line = { entry, tapped };
      this.#lines.push(line);
      if (this.#lines.length > MOST_ENTRIES) this.#lines = this.#lines.slice(-MOST_ENTRIES / 2);
      for (const listener of this.#listeners) listener(whole(line));
    });
  }

  /** Oldest first. */
  list({ service, method, url, status }: JournalQuery = {}): readonly JournalEntry[] {
    const sameUrl = (text: string) =>
      url === undefined ||
      (typeof url === 'string'
        ? text.includes(url)
        : new RegExp(url.source, url.flags.replace(/[gy]/g, '')).test(text));
    const wanted = this.#lines.filter(
      ({ entry }) =>
        (service === undefined || entry.service === service) &&
        (method === undefined || entry.method === method.toUpperCase()) &&
        (status === undefined || entry.status === status) &&
        sameUrl(entry.url),
    );
    return wanted.map(whole);
  }

  /** The newest ones, newest first. */
  latest(count: number): readonly Line['entry'][] {
    return this.#lines
      .slice(-count)
      .reverse()
      .map(({ entry }) => entry);
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
