import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: any;
  /** Whose token it carries. */
  readonly token: FakeToken | undefined;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeToken {
  readonly projectId: string;
  readonly admin: boolean;
}

/** `drop`: the connection breaks before anything is done. `lose`: it is done, and then the connection breaks. */
export type Mishap = 'drop' | 'lose' | 'hang' | FakeAnswer;

export interface FakeService {
  readonly url: string;
  readonly journal: readonly FakeRequest[];
  /** The next so many requests of that method (and path) go wrong. */
  fail(method: string, path: RegExp, mishap: Mishap, times?: number): void;
  close(): Promise<void>;
}

/** A local server that answers as `handle` says, keeps a journal, and fails on demand. */
export async function startFake(
  tokens: ReadonlyMap<string, FakeToken>,
  handle: (request: FakeRequest) => FakeAnswer,
): Promise<FakeService> {
  const journal: FakeRequest[] = [];
  const mishaps: { method: string; path: RegExp; mishap: Mishap; times: number }[] = [];
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
    const failing = mishaps.find((m) => m.times > 0 && m.method === request.method && m.path.test(request.path));
    if (failing) failing.times--;
    const mishap = failing?.mishap;
    if (mishap === 'hang') return;
    if (mishap === 'drop') return void req.socket.destroy();
    const { status, body, headers } = typeof mishap === 'object' ? mishap : handle(request);
    if (mishap === 'lose') return void req.socket.destroy();
    const text = body === undefined ? '' : JSON.stringify(body);
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    journal,
    fail: (method, path, mishap, times = 1) => void mishaps.push({ method, path, mishap, times }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
