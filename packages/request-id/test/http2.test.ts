import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { currentRequestId, requestId } from '../src/index.js';

/** Serves HTTP/2 without encryption, with the id of the request in the body. */
async function serve(): Promise<ClientHttp2Session> {
  const ids = requestId();
  // The compatibility API of `node:http2` has the same members as requests and responses of `node:http`.
  const server = createServer((req, res) => {
    const [request, response] = [req as unknown as IncomingMessage, res as unknown as ServerResponse];
    ids(request, response, () => res.end(currentRequestId()?.local ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return client;
}

function get(client: ClientHttp2Session, headers: Record<string, string> = {}) {
  return new Promise<readonly [header: unknown, body: string]>((resolve, reject) => {
    const stream = client.request({ ':path': '/', ...headers });
    let header: unknown;
    let body = '';
    stream.on('response', (received) => {
      header = received['x-request-id'];
    });
    stream.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    stream.on('end', () => resolve([header, body]));
    stream.on('error', reject);
  });
}

describe('requestId() with HTTP/2', () => {
  it('assigns separate ids to concurrent requests of one connection', async () => {
    const client = await serve();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) => get(client, i % 2 === 0 ? { 'x-request-id': `order-${i}` } : {})),
    );
    for (const [i, [header, body]] of responses.entries()) {
      expect(body).toBe(header);
      expect(body).toMatch(i % 2 === 0 ? new RegExp(`^order-${i}$`) : /^[0-9a-f-]{36}$/);
    }
    expect(new Set(responses.map(([, body]) => body)).size).toBe(20);
  });
});
