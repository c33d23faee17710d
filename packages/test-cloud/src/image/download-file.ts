import { createHash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { checkLiteralAddress, publicLookup } from './public-addresses.js';

/** The hosts allowed for downloads: all, or public addresses and the hosts in a set (`HOST` or `HOST:PORT`). */
export type DownloadSources = 'all' | ReadonlySet<string>;

/** The maximum time without data during a download, and the maximum duration of the whole download. */
const IDLE_TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 6 * 3_600_000;
const MAX_REDIRECTS = 5;

/** The length of a checksum in hexadecimal digits, by algorithm. */
const DIGITS_BY_ALGORITHM: Readonly<Record<string, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

/** The checksum that a downloaded file must have. */
export interface ExpectedChecksum {
  readonly algorithm: string;
  /** The checksum in lower-case hexadecimal digits. */
  readonly value: string;
}

/**
 * Parses the fragment of a URL such as `https://example.org/disk.qcow2#sha256=...`; undefined without a fragment.
 *
 * @throws TypeError for a fragment that is not a checksum
 */
export function parseChecksum({ hash }: URL): ExpectedChecksum | undefined {
  if (hash === '') return undefined;
  const [, algorithm = '', value = ''] = /^#(\w+)=([0-9a-f]+)$/.exec(hash.toLowerCase()) ?? [];
  if (DIGITS_BY_ALGORITHM[algorithm] !== value.length)
    throw new TypeError(`'${hash}' is not a checksum: use #${Object.keys(DIGITS_BY_ALGORITHM).join('=HEX, #')}=HEX`);
  return { algorithm, value };
}

function request(url: URL, sources: DownloadSources, signal: AbortSignal): Promise<IncomingMessage> {
  const isTrusted = sources === 'all' || sources.has(url.host) || sources.has(url.hostname);
  if (!isTrusted) checkLiteralAddress(url.hostname.replace(/^\[|\]$/g, ''));
  const { get } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      agent: false,
      timeout: IDLE_TIMEOUT_MS,
      headers: { 'Accept-Encoding': 'identity' },
    } as const;
    const clientRequest = get(url, { ...options, ...(!isTrusted && { lookup: publicLookup }) }, resolve);
    clientRequest.once('error', reject);
    clientRequest.once('timeout', () =>
      clientRequest.destroy(new Error(`no data for ${IDLE_TIMEOUT_MS / 1000} seconds`)),
    );
  });
}

async function* verifiedContent(content: IncomingMessage, expected: ExpectedChecksum | undefined) {
  const hash = expected && createHash(expected.algorithm);
  for await (const chunk of content as AsyncIterable<Uint8Array>) {
    hash?.update(chunk);
    yield chunk;
  }
  const actualChecksum = hash?.digest('hex');
  if (expected && actualChecksum !== expected.value)
    throw new Error(`the content has the ${expected.algorithm} checksum ${actualChecksum}, not ${expected.value}`);
}

/**
 * Downloads a file over HTTP and follows redirects. The stream ends with an error if the file does not have the
 * checksum in the URL's fragment.
 *
 * @throws Error if an address is not allowed, and for responses other than 200
 */
export async function downloadFile(url: URL, sources: DownloadSources): Promise<AsyncIterable<Uint8Array>> {
  const expected = parseChecksum(url);
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  let currentUrl = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(currentUrl, sources, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return verifiedContent(response, expected);
    response.destroy();
    if (statusCode < 300 || statusCode >= 400 || !headers.location)
      throw new Error(`${currentUrl} returned ${statusCode}`);
    currentUrl = new URL(headers.location, currentUrl);
    if (!['http:', 'https:'].includes(currentUrl.protocol))
      throw new Error(`${url} redirects to ${currentUrl}, which is not HTTP`);
  }
  throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`);
}
