import {
  createServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
  type RequestListener,
  request,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import express4 from 'express4';
import { onTestFinished } from 'vitest';
import { type HealthcheckLog, type HealthcheckOptions, healthcheck } from '../src/index.js';

/** A raw response. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface SendRequest {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** A running server of this test. */
export interface Served {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  request(path: string, request?: SendRequest): Promise<ReceivedResponse>;
}

/** Serves until the test ends. */
export async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<Served> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${port}`,
    port,
    server,
    request: (path, request) => requestFrom(host, port, path, request),
  };
}

/** Sends the path unchanged, without the normalization of a URL object. */
export function requestFrom(
  host: string,
  port: number,
  path: string,
  send: SendRequest = {},
): Promise<ReceivedResponse> {
  const { method = 'GET', body } = send;
  const headers = { ...(body === undefined ? {} : { 'content-length': String(body.length) }), ...send.headers };
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** A log that stores its lines. */
export function recordingLog(): HealthcheckLog & { readonly lines: string[] } {
  const lines: string[] = [];
  return { lines, warn: (line) => void lines.push(`warn ${line}`), error: (line) => void lines.push(`error ${line}`) };
}

/** The endpoint as a filter in each kind of server, with a next handler that responds with `next`. */
export const HOSTS: Readonly<Record<string, (options: HealthcheckOptions) => RequestListener>> = {
  'Express 4': (options) => {
    const app = express4();
    app.use(closing(options));
    app.use((_req: unknown, res: { end(text: string): void }) => res.end('next'));
    return app;
  },
  'Express 5': (options) => {
    const app = express();
    app.use(closing(options));
    app.use((_req, res) => void res.end('next'));
    return app;
  },
  'node:http': (options) => {
    const health = closing(options);
    return (req, res) => health(req, res, () => res.end('next'));
  },
};

/** Creates an endpoint that is closed when the test ends, and that logs nothing. */
export function closing(options: HealthcheckOptions): ReturnType<typeof healthcheck> {
  const health = healthcheck({ log: false, ...options });
  onTestFinished(() => health.close());
  return health;
}
