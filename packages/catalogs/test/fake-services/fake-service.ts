import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The parsed request body; undefined if the body is not JSON. */
  readonly json: any;
  /** The request's token. */
  readonly token: FakeToken | undefined;
}

export interface FakeResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeToken {
  readonly projectId: string;
  readonly admin: boolean;
}

/**
 * How a request fails. `drop`: the connection breaks before the request is executed. `lose`: the connection breaks
 * afterwards.
 */
export type InjectedFailure = 'drop' | 'lose' | 'hang' | FakeResponse;

export interface FakeService {
  readonly url: string;
  readonly journal: readonly FakeRequest[];
  /** Makes the next requests with a method and path fail. */
  fail(method: string, path: RegExp, failure: InjectedFailure, times?: number): void;
  close(): Promise<void>;
}

/** Starts a local server that responds with the result of `handle`, records all requests, and fails on demand. */
export async function startFake(
  tokens: ReadonlyMap<string, FakeToken>,
  handle: (request: FakeRequest) => FakeResponse,
): Promise<FakeService> {
  const journal: FakeRequest[] = [];
  const failures: { method: string; path: RegExp; failure: InjectedFailure; times: number }[] = [];
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const url = new URL(req.url!, 'http://fake');
    const token = tokens.get(String(req.headers['x-auth-token']));
    const isJson = /json/.test(req.headers['content-type'] ?? '');
    const request: FakeRequest = {
      method: req.method!,
      path: url.pathname,
      query: url.searchParams,
      headers: req.headers,
      raw,
      json: isJson ? JSON.parse(raw.toString()) : undefined,
      token,
    };
    journal.push(request);
    const failing = failures.find((m) => m.times > 0 && m.method === request.method && m.path.test(request.path));
    if (failing) failing.times--;
    const failure = failing?.failure;
    if (failure === 'hang') return;
    if (failure === 'drop') return void req.socket.destroy();
    const { status, body, headers } = typeof failure === 'object' ? failure : handle(request);
    if (failure === 'lose') return void req.socket.destroy();
    const text = body === undefined ? '' : JSON.stringify(body);
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    journal,
    fail: (method, path, failure, times = 1) => void failures.push({ method, path, failure: failure, times }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
