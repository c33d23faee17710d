import { parsed } from '../front/body-tap.js';
import type { TestCloud } from '../test-cloud.js';
import { urlPath } from '../url-path.js';
import { Correspondence } from './correspondence.js';
import type { Har } from './har.js';
import { logIn } from './log-in.js';
import { prepare } from './prepare.js';
import { type Recorded, readEntry } from './recorded.js';
import { type Headers, headerDifferences, type ShapeDifference, shapeDifferences } from './shape.js';

/** Answers of a recording and of a test cloud that are not of the same form. */
export interface RecordedDifference extends ShapeDifference {
  /** Which entry of the recording, from 1; the first one where it was met. */
  readonly entry: number;
  readonly method: string;
  /** As it was recorded. */
  readonly url: string;
  /** In how many answers of this kind. */
  readonly count: number;
}

export interface Verification {
  /** How many answers were compared. */
  readonly compared: number;
  /** Requests that were not repeated: what the recording could not keep, or where the real cloud failed. */
  readonly skipped: number;
  readonly differences: readonly RecordedDifference[];
}

/** How long an answer that a client waited for may take to come here. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 50;
/** Headers that speak of one connection, or that are made anew. */
const NOT_REPEATED = [
  'host',
  'connection',
  'content-length',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
  'expect',
];
/** What is sent where bytes were sent that a recording does not keep, such as those of an image. */
const SOME_BYTES = new Uint8Array(512);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Sends a recorded request to a cloud, in the names of here. */
async function repeat(entry: Recorded, cloud: TestCloud, names: Correspondence): Promise<Answer> {
  const { method, requestHeaders, requestBody } = entry;
  const headers = Object.entries(requestHeaders)
    .filter(([name]) => !NOT_REPEATED.includes(name))
    .map(([name, value]): [string, string] => [name, names.inText(value)]);
  const type = requestHeaders['content-type'] ?? '';
  const bytes =
    type !== '' && !/json/.test(type) && !['GET', 'HEAD', 'DELETE'].includes(method) ? SOME_BYTES : undefined;
  const response = await fetch(`${cloud.url}${names.inUrl(entry.url)}`, {
    method,
    headers,
    body: requestBody === undefined ? bytes : JSON.stringify(names.inJson(requestBody)),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed(text) };
}

/** A client that asks the same again at once waits for something: only the last answer of such a row tells. */
function withoutWaiting(entries: readonly Recorded[]): readonly Recorded[] {
  return entries.filter((entry, index) => {
    const next = entries[index + 1];
    return !(entry.method === 'GET' && next?.method === 'GET' && next.url === entry.url);
  });
}

/**
 * Repeats a recording against a test cloud and tells where the answers differ in form: status, headers that clients act on,
 * fields and their types. Ids, tokens and passwords of the recording become those of the cloud; flavors, images and networks
 * that the recording takes for granted are made first.
 */
export async function verifyRecording(har: Har, cloud: TestCloud): Promise<Verification> {
  const entries = har.log.entries.map(readEntry);
  const names = new Correspondence();
  const byKind = new Map<string, RecordedDifference>();
  const usersMade = new Set<string>();
  let compared = 0;
  let skipped = 0;
  await prepare(entries, cloud);

  for (const entry of withoutWaiting(entries)) {
    if (entry.status === 0 || entry.status >= 500) {
      skipped++;
      continue;
    }
    await logIn(entry, { cloud, names, usersMade });
    let answer = await repeat(entry, cloud, names);
    // Nothing is left under way that a recorded client had waited for.
    await cloud.idle();
    for (
      const end = Date.now() + PATIENCE_MS;
      entry.method === 'GET' && answer.status !== entry.status && Date.now() < end;
    ) {
      if (answer.status !== 200) break;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      answer = await repeat(entry, cloud, names);
    }
    compared++;
    const user = (entry.responseBody as { user?: { name?: string } } | undefined)?.user;
    if (entry.method === 'POST' && user?.name !== undefined) usersMade.add(user.name);
    for (const [name, value] of Object.entries(entry.responseHeaders)) {
      const here = answer.headers[name];
      if (/^\*\*\*\d+$/.test(value) && here !== undefined) names.same(value, here);
    }
    names.learn(entry.responseBody, answer.body);
    for (const difference of differencesOf(entry, answer)) {
      const kind = `${entry.method} ${pattern(entry.url)} ${difference.where} ${difference.recorded} ${difference.here}`;
      const known = byKind.get(kind);
      const { number, method, url } = entry;
      byKind.set(
        kind,
        known ? { ...known, count: known.count + 1 } : { ...difference, entry: number, method, url, count: 1 },
      );
    }
  }
  return { compared, skipped, differences: [...byKind.values()] };
}

function differencesOf(entry: Recorded, answer: Answer): readonly ShapeDifference[] {
  if (entry.status !== answer.status) {
    const said =
      answer.status >= 400 && answer.body !== undefined ? ` ${JSON.stringify(answer.body).slice(0, 200)}` : '';
    return [{ where: 'status', recorded: String(entry.status), here: `${answer.status}${said}` }];
  }
  return [
    ...headerDifferences(entry.responseHeaders, answer.headers),
    // What is no JSON, or was too long for the recording, is not compared.
    ...(entry.responseBody === undefined ? [] : shapeDifferences(entry.responseBody, answer.body)),
  ];
}

/** The address without what is a particular thing's. */
function pattern(url: string): string {
  return urlPath(url).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g, '{id}');
}

/** A verification to read. */
export function verificationText({ compared, skipped, differences }: Verification): string {
  const lines = differences.map(
    ({ entry, method, url, where, recorded, here, count }) =>
      `#${entry} ${method} ${url}\n    ${where}: recorded ${recorded}, here ${here}${count > 1 ? ` (${count} times)` : ''}`,
  );
  const end = `${compared} answers compared, ${skipped} skipped, ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`;
  return `${[...lines, end].join('\n')}\n`;
}
