import { parseJson } from '../gateway/body-tap.js';
import type { TestCloud } from '../test-cloud.js';
import { urlPath } from '../url-path.js';
import type { Har } from './har.js';
import { IdentifierMapping } from './identifier-mapping.js';
import { prepareLogin } from './log-in.js';
import { createMissingResources } from './prepare.js';
import { type Recorded, readEntry } from './recorded.js';
import { type Headers, headerDifferences, type ShapeDifference, shapeDifferences } from './shape.js';

/** A difference between the formats of a recorded response and the test cloud's response. */
export interface RecordedDifference extends ShapeDifference {
  /** The number of the first recorded entry with this difference, counted from 1. */
  readonly entry: number;
  readonly method: string;
  /** The path and query string in the recording. */
  readonly url: string;
  /** The number of responses with this difference. */
  readonly count: number;
}

export interface Verification {
  /** The number of compared responses. */
  readonly compared: number;
  /** The number of requests that were not repeated because they were interrupted or failed in the real cloud. */
  readonly skipped: number;
  readonly differences: readonly RecordedDifference[];
}

/** The maximum time that a repeated read waits for the recorded status. */
const STATUS_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
/** The request headers that apply to a single connection, or that `fetch()` sets itself. */
const OMITTED_HEADERS = [
  'host',
  'connection',
  'content-length',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
  'expect',
];
/** A substitute for binary request bodies, such as image data, which recordings do not contain. */
const SAMPLE_BYTES = new Uint8Array(512);

interface RecordedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Sends a recorded request to the test cloud, with all identifiers replaced. */
async function repeatRequest(
  entry: Recorded,
  cloud: TestCloud,
  identifiers: IdentifierMapping,
): Promise<RecordedResponse> {
  const { method, requestHeaders, requestBody } = entry;
  const headers = Object.entries(requestHeaders)
    .filter(([name]) => !OMITTED_HEADERS.includes(name))
    .map(([name, value]): [string, string] => [name, identifiers.replaceInText(value)]);
  const type = requestHeaders['content-type'] ?? '';
  const bytes =
    type !== '' && !/json/.test(type) && !['GET', 'HEAD', 'DELETE'].includes(method) ? SAMPLE_BYTES : undefined;
  const response = await fetch(`${cloud.url}${identifiers.replaceInUrl(entry.url)}`, {
    method,
    headers,
    body: requestBody === undefined ? bytes : JSON.stringify(identifiers.replaceInJson(requestBody)),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parseJson(text) };
}

/** Removes polling: keeps only the last one of identical consecutive reads. */
function withoutPolling(entries: readonly Recorded[]): readonly Recorded[] {
  return entries.filter((entry, index) => {
    const next = entries[index + 1];
    return !(entry.method === 'GET' && next?.method === 'GET' && next.url === entry.url);
  });
}

/**
 * Repeats a recording against a test cloud and reports where response formats differ: statuses, headers that clients
 * evaluate, fields and their types. Replaces the recording's ids, tokens and passwords with those of the test cloud.
 * First creates the flavors, images and networks that the recording needs.
 */
export async function verifyRecording(har: Har, cloud: TestCloud): Promise<Verification> {
  const entries = har.log.entries.map(readEntry);
  const identifiers = new IdentifierMapping();
  const differencesByKind = new Map<string, RecordedDifference>();
  const createdUsers = new Set<string>();
  let compared = 0;
  let skipped = 0;
  await createMissingResources(entries, cloud);

  for (const entry of withoutPolling(entries)) {
    if (entry.status === 0 || entry.status >= 500) {
      skipped++;
      continue;
    }
    await prepareLogin(entry, { cloud, identifiers, createdUsers });
    let repeatedResponse = await repeatRequest(entry, cloud, identifiers);
    // The recorded client may have waited for background jobs to complete.
    await cloud.idle();
    for (
      const end = Date.now() + STATUS_TIMEOUT_MS;
      entry.method === 'GET' && repeatedResponse.status !== entry.status && Date.now() < end;
    ) {
      if (repeatedResponse.status !== 200) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      repeatedResponse = await repeatRequest(entry, cloud, identifiers);
    }
    compared++;
    const user = (entry.responseBody as { user?: { name?: string } } | undefined)?.user;
    if (entry.method === 'POST' && user?.name !== undefined) createdUsers.add(user.name);
    for (const [name, value] of Object.entries(entry.responseHeaders)) {
      const actual = repeatedResponse.headers[name];
      if (/^\*\*\*\d+$/.test(value) && actual !== undefined) identifiers.add(value, actual);
    }
    identifiers.learn(entry.responseBody, repeatedResponse.body);
    for (const difference of differencesOf(entry, repeatedResponse)) {
      const kind = `${entry.method} ${urlPattern(entry.url)} ${difference.where} ${difference.recorded} ${difference.actual}`;
      const knownDifference = differencesByKind.get(kind);
      const { number, method, url } = entry;
      differencesByKind.set(
        kind,
        knownDifference
          ? { ...knownDifference, count: knownDifference.count + 1 }
          : { ...difference, entry: number, method, url, count: 1 },
      );
    }
  }
  return { compared, skipped, differences: [...differencesByKind.values()] };
}

function differencesOf(entry: Recorded, response: RecordedResponse): readonly ShapeDifference[] {
  if (entry.status !== response.status) {
    const detail =
      response.status >= 400 && response.body !== undefined ? ` ${JSON.stringify(response.body).slice(0, 200)}` : '';
    return [{ where: 'status', recorded: String(entry.status), actual: `${response.status}${detail}` }];
  }
  return [
    ...headerDifferences(entry.responseHeaders, response.headers),
    // The recording does not contain bodies that are too long or not JSON.
    ...(entry.responseBody === undefined ? [] : shapeDifferences(entry.responseBody, response.body)),
  ];
}

/** Returns the path of a URL, in which `{id}` replaces all ids. */
function urlPattern(url: string): string {
  return urlPath(url).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g, '{id}');
}

/** Formats the result of a verification as text. */
export function formatVerification({ compared, skipped, differences }: Verification): string {
  const lines = differences.map(
    ({ entry, method, url, where, recorded, actual, count }) =>
      `#${entry} ${method} ${url}\n    ${where}: recorded ${recorded}, actual ${actual}${count > 1 ? ` (${count} times)` : ''}`,
  );
  const end = `${compared} responses compared, ${skipped} skipped, ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`;
  return `${[...lines, end].join('\n')}\n`;
}
