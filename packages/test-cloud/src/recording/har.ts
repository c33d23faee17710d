import { readFile } from 'node:fs/promises';
import { parseJson } from '../gateway/body-tap.js';
import type { JournalEntry } from '../gateway/journal.js';

interface HarPair {
  readonly name: string;
  readonly value: string;
}

/** A request and its response in the HTTP Archive format, HAR 1.2. */
export interface HarEntry {
  readonly startedDateTime: string;
  /** In milliseconds. */
  readonly time: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly httpVersion: string;
    readonly cookies: readonly HarPair[];
    readonly headers: readonly HarPair[];
    readonly queryString: readonly HarPair[];
    readonly postData?: { readonly mimeType: string; readonly text: string };
    readonly headersSize: number;
    readonly bodySize: number;
  };
  readonly response: {
    readonly status: number;
    readonly statusText: string;
    readonly httpVersion: string;
    readonly cookies: readonly HarPair[];
    readonly headers: readonly HarPair[];
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string };
    readonly redirectURL: string;
    readonly headersSize: number;
    readonly bodySize: number;
  };
  readonly cache: Record<string, never>;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
}

/** The content of a HAR file. */
export interface Har {
  readonly log: {
    readonly version: '1.2';
    readonly creator: { readonly name: string; readonly version: string };
    readonly entries: readonly HarEntry[];
  };
}

/** The `creator` of the HAR files that this package writes. */
export const CREATOR = { name: 'Apistrata test cloud', version: '1' } as const;

const toPairs = (headers: Readonly<Record<string, string>>): HarPair[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

/** Converts a journal entry to a HAR entry, in which unknown values are -1, as the format requires. */
export function toHarEntry(entry: JournalEntry, cloudUrl: string): HarEntry {
  const { requestHeaders, responseHeaders, requestBody, responseBody } = entry;
  const url = `${cloudUrl}${entry.url}`;
  const requestText = requestBody === undefined ? undefined : JSON.stringify(requestBody);
  const responseText = responseBody === undefined ? undefined : JSON.stringify(responseBody);
  const commonFields = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1 };
  return {
    startedDateTime: new Date(entry.at).toISOString(),
    time: entry.durationMs,
    request: {
      ...commonFields,
      method: entry.method,
      url,
      headers: toPairs(requestHeaders),
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      ...(requestText !== undefined && {
        postData: { mimeType: requestHeaders['content-type'] ?? 'application/json', text: requestText },
      }),
      bodySize: requestText === undefined ? 0 : Buffer.byteLength(requestText),
    },
    response: {
      ...commonFields,
      status: entry.status,
      statusText: '',
      headers: toPairs(responseHeaders),
      content: {
        size: responseText === undefined ? 0 : Buffer.byteLength(responseText),
        mimeType: responseHeaders['content-type'] ?? '',
        ...(responseText !== undefined && { text: responseText }),
      },
      redirectURL: responseHeaders.location ?? '',
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: entry.durationMs, receive: 0 },
  };
}

/** Converts journal entries to a HAR file. */
export function toHar(entries: readonly JournalEntry[], cloudUrl: string): Har {
  return { log: { version: '1.2', creator: CREATOR, entries: entries.map((entry) => toHarEntry(entry, cloudUrl)) } };
}

/** Reads a HAR file. @throws TypeError if it is malformed */
export async function readHar(path: string): Promise<Har> {
  const har = parseJson(await readFile(path, 'utf8')) as Har | undefined;
  if (!Array.isArray(har?.log?.entries)) throw new TypeError(`${path} is not a HAR file: it has no log with entries`);
  return har;
}
