import { parsed } from '../gateway/body-tap.js';
import type { TestCloud } from '../test-cloud.js';
import { urlPath } from '../url-path.js';
import type { Har } from './har.js';
import { logIn } from './log-in.js';
import { NameMapping } from './name-mapping.js';
import { prepare } from './prepare.js';
import { type Recorded, readEntry } from './recorded.js';
import { type Headers, headerDifferences, type ShapeDifference, shapeDifferences } from './shape.js';

/** A difference in form between responses of a recording and of a test cloud. */
export interface RecordedDifference extends ShapeDifference {
  /** The number of the first entry with the difference, counted from 1. */
  readonly entry: number;
  readonly method: string;
  /** The recorded path and query string. */
  readonly url: string;
  /** Number of responses with the difference. */
  readonly count: number;
}

export interface Verification {
  /** Number of compared responses. */
  readonly compared: number;
  /** Number of requests that were not repeated: incomplete in the recording, or failed in the real cloud. */
  readonly skipped: number;
  readonly differences: readonly RecordedDifference[];
}

/** The maximum wait for a status that the recorded client waited for. */
const CONDITION_TIMEOUT_MS = 10_000;
const PAUSE_MS = 50;
/** Headers that apply to a single connection, or that are generated again. */
const NOT_REPEATED = [
  'host',
  'connection',
  'content-length',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
  'expect',
];
/** Sent instead of binary content, such as an image's content, which a recording does not contain. */
const SAMPLE_BYTES = new Uint8Array(512);

interface RecordedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Sends a recorded request to a cloud, with names replaced. */
async function repeat(entry: Recorded, cloud: TestCloud, names: NameMapping): Promise<RecordedResponse> {
  const { method, requestHeaders, requestBody } = entry;
  const headers = Object.entries(requestHeaders)
    .filter(([name]) => !NOT_REPEATED.includes(name))
    .map(([name, value]): [string, string] => [name, names.replaceInText(value)]);
  const type = requestHeaders['content-type'] ?? '';
  const bytes =
    type !== '' && !/json/.test(type) && !['GET', 'HEAD', 'DELETE'].includes(method) ? SAMPLE_BYTES : undefined;
  const response = await fetch(`${cloud.url}${names.inUrl(entry.url)}`, {
    method,
    headers,
    body: requestBody === undefined ? bytes : JSON.stringify(names.inJson(requestBody)),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed(text) };
}

/** Removes polling: of identical consecutive requests, only the last one is compared. */
function withoutWaiting(entries: readonly Recorded[]): readonly Recorded[] {
  return entries.filter((entry, index) => {
    const next = entries[index + 1];
    return !(entry.method === 'GET' && next?.method === 'GET' && next.url === entry.url);
  });
}

/**
 * Repeats a recording against a test cloud and reports where the responses differ in form: status, headers that clients
 * evaluate, fields and their types. Ids, tokens and passwords of the recording are replaced; flavors, images and
 * networks that it expects are created first.
 */
export async function verifyRecording(har: Har, cloud: TestCloud): Promise<Verification> {
  const entries = har.log.entries.map(readEntry);
  const names = new NameMapping();
  const byKind = new Map<string, RecordedDifference>();
  const createdUsers = new Set<string>();
  let compared = 0;
  let skipped = 0;
  await prepare(entries, cloud);

  for (const entry of withoutWaiting(entries)) {
    if (entry.status === 0 || entry.status >= 500) {
      skipped++;
      continue;
    }
    await logIn(entry, { cloud, names, createdUsers });
    let result = await repeat(entry, cloud, names);
    // Completes background work that the recorded client had waited for.
    await cloud.idle();
    for (
      const end = Date.now() + CONDITION_TIMEOUT_MS;
      entry.method === 'GET' && result.status !== entry.status && Date.now() < end;
    ) {
      if (result.status !== 200) break;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      result = await repeat(entry, cloud, names);
    }
    compared++;
    const user = (entry.responseBody as { user?: { name?: string } } | undefined)?.user;
    if (entry.method === 'POST' && user?.name !== undefined) createdUsers.add(user.name);
    for (const [name, value] of Object.entries(entry.responseHeaders)) {
      const here = result.headers[name];
      if (/^\*\*\*\d+$/.test(value) && here !== undefined) names.add(value, here);
    }
    names.learn(entry.responseBody, result.body);
    for (const difference of differencesOf(entry, result)) {
      const kind = `${entry.method} ${pattern(entry.url)} ${difference.where} ${difference.recorded} ${difference.here}`;
      const existing = byKind.get(kind);
      const { number, method, url } = entry;
      byKind.set(
        kind,
        existing ? { ...existing, count: existing.count + 1 } : { ...difference, entry: number, method, url, count: 1 },
      );
    }
  }
  return { compared, skipped, differences: [...byKind.values()] };
}

function differencesOf(entry: Recorded, response: RecordedResponse): readonly ShapeDifference[] {
  if (entry.status !== response.status) {
    const detail =
      response.status >= 400 && response.body !== undefined ? ` ${JSON.stringify(response.body).slice(0, 200)}` : '';
    return [{ where: 'status', recorded: String(entry.status), here: `${response.status}${detail}` }];
  }
  return [
    ...headerDifferences(entry.responseHeaders, response.headers),
    // Bodies that are not JSON, or too long for the recording, are not compared.
    ...(entry.responseBody === undefined ? [] : shapeDifferences(entry.responseBody, response.body)),
  ];
}

/** Replaces the ids in a URL. */
function pattern(url: string): string {
  return urlPath(url).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g, '{id}');
}

/** Formats a verification as text. */
export function verificationText({ compared, skipped, differences }: Verification): string {
  const lines = differences.map(
    ({ entry, method, url, where, recorded, here, count }) =>
      `#${entry} ${method} ${url}\n    ${where}: recorded ${recorded}, here ${here}${count > 1 ? ` (${count} times)` : ''}`,
  );
  const end = `${compared} responses compared, ${skipped} skipped, ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`;
  return `${[...lines, end].join('\n')}\n`;
}
