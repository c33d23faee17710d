import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseJson, tapBodies } from '../gateway/body-tap.js';
import { journalEntry, watchRequest } from '../gateway/journal.js';
import { toHarEntry } from './har.js';
import { HarFileWriter } from './har-file-writer.js';
import { Pseudonyms } from './pseudonyms.js';
import { Upstream, type UpstreamOptions } from './upstream.js';

export interface RecorderOptions extends UpstreamOptions {
  /** The path of the HAR file. The recorder replaces an existing file. */
  readonly file: string;
  readonly port?: number;
  readonly host?: string;
  /** Called with the error if an entry cannot be written. */
  readonly onError?: (error: unknown) => void;
}

export interface Recorder {
  /** The identity URL that clients must use so that their requests are recorded. */
  readonly authUrl: string;
  /** The number of recorded requests. */
  readonly count: number;
  stop(): Promise<void>;
}

/** The size limits of recorded bodies. Longer bodies are forwarded, but not recorded. */
const BODY_LIMITS = { maxRequestBytes: 2 ** 20, maxResponseBytes: 2 ** 24 };
/** The maximum size of JSON responses, whose URLs are rewritten in memory. The recorder returns 502 for larger ones. */
const MAX_REWRITTEN_BYTES = 2 ** 26;
const IDLE_TIMEOUT_MS = 300_000;
/** Headers that apply to a single connection. The proxy does not forward them. */
const CONNECTION_HEADERS = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
  'te',
  'trailer',
];

function withoutHeaders(headers: IncomingMessage['headers'], names: readonly string[]) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

function sendError(res: ServerResponse, status: number, message: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify({ error: { code: status, message } }));
}

/** Reads a complete message body. */
async function readBody(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_REWRITTEN_BYTES)
      throw new Error(`The cloud returned more than ${MAX_REWRITTEN_BYTES} bytes of JSON.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Starts a proxy for a real cloud. The proxy records requests and responses in a HAR file. Clients that log in through
 * the proxy receive a catalog with the proxy's URLs. In the file, `***1`, `***2`, ... replace tokens and passwords.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const { onError = (error: unknown) => console.error(error) } = options;
  const upstream = new Upstream(options);
  const pseudonyms = new Pseudonyms();
  const writer = await HarFileWriter.create(options.file);

  function record(service: string, req: IncomingMessage, res: ServerResponse, proxyUrl: string): void {
    const tapped = tapBodies(req, res, BODY_LIMITS);
    watchRequest({ service, req, res, tapped, now: Date.now }, (line) => {
      // This call also collects the secrets of the entry, which are then replaced wherever they occur in the entry.
      const entry = journalEntry(line, pseudonyms.redact);
      const recordedEntry = {
        ...entry,
        url: pseudonyms.replaceInUrl(entry.url),
        requestBody: pseudonyms.replaceInJson(entry.requestBody),
        responseBody: pseudonyms.replaceInJson(entry.responseBody),
        requestHeaders: pseudonyms.replaceInJson(entry.requestHeaders) as typeof entry.requestHeaders,
        responseHeaders: pseudonyms.replaceInJson(entry.responseHeaders) as typeof entry.responseHeaders,
      };
      writer.add(toHarEntry(recordedEntry, proxyUrl)).catch(onError);
    });
  }

  async function forward(from: IncomingMessage, res: ServerResponse, proxyUrl: string, isHead: boolean): Promise<void> {
    const headers = withoutHeaders(from.headers, CONNECTION_HEADERS);
    if (typeof headers.location === 'string') headers.location = upstream.rewrite(headers.location, proxyUrl);
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
    res.statusCode = from.statusCode ?? 502;
    if (isHead || !/json/.test(String(headers['content-type'] ?? ''))) {
      from.on('error', () => res.destroy());
      from.pipe(res);
      return;
    }
    const text = (await readBody(from)).toString('utf8');
    if (text.includes('"catalog"')) upstream.learn(parseJson(text));
    const bytes = Buffer.from(upstream.rewrite(text, proxyUrl));
    res.setHeader('content-length', bytes.length);
    res.end(bytes);
  }

  const server = createServer((req, res) => {
    const proxyUrl = `http://${req.headers.host ?? `127.0.0.1:${port}`}`;
    const { url: path = '/' } = req;
    record(path.split(/[/?]/, 2)[1] ?? '', req, res, proxyUrl);
    const target = upstream.target(path);
    if (target === undefined)
      return sendError(res, 503, 'No catalog contains this service yet: log in through the recorder first.');
    const url = new URL(target);
    const headers = { ...withoutHeaders(req.headers, [...CONNECTION_HEADERS, 'host']), 'accept-encoding': 'identity' };
    const requestOptions: RequestOptions = { method: req.method, headers };
    const upstreamRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, requestOptions, (from) => {
      forward(from, res, proxyUrl, req.method === 'HEAD').catch((error) => sendError(res, 502, error.message));
    });
    upstreamRequest.setTimeout(IDLE_TIMEOUT_MS, () =>
      upstreamRequest.destroy(new Error('The cloud does not respond.')),
    );
    upstreamRequest.on('error', (error) => sendError(res, 502, `The cloud does not respond: ${error.message}`));
    res.on('close', () => upstreamRequest.destroy());
    req.pipe(upstreamRequest);
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, sendError) => {
    server.once('error', sendError);
    server.listen(options.port ?? 0, host, resolve);
  }).catch(async (error) => {
    await writer.close();
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  const shownHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return {
    authUrl: `http://${shownHost}:${port}/identity/v3`,
    get count() {
      return writer.count;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await writer.close();
    },
  };
}
