import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { healthcheck } from '@apistrata/healthcheck';
import { versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';
import { describe, expect, it, onTestFinished } from 'vitest';

interface Received {
  readonly status: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Serves HTTP/2 without encryption. Requests pass through the four packages to a handler that creates notes. */
async function serve() {
  const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
  const counted = enforceQuota({ quota, kind: 'notes', project: () => 'everyone' });
  const [health, ids, versions] = [healthcheck(), requestId(), versioning({ versions: ['1', '2'] })];
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    health(req, res, () =>
      ids(req, res, () =>
        versions(req, res, () => {
          void counted(req, res, () => {
            res.statusCode = req.url === '/broken' ? 500 : 201;
            res.end('created');
          });
        }),
      ),
    );
  };
  // The compatibility API of `node:http2` has the same request and response members as `node:http`.
  const server = createServer((req, res) =>
    handle(req as unknown as IncomingMessage, res as unknown as ServerResponse),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<Received>((resolve, reject) => {
      const stream = client.request({ ':method': method, ':path': path, ...headers });
      let head: Readonly<Record<string, unknown>> = {};
      let body = '';
      stream.on('response', (received) => {
        head = received;
      });
      stream.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      stream.on('end', () => resolve({ status: head[':status'], headers: head, body }));
      stream.on('error', reject);
      stream.end();
    });
}

describe('the four packages with HTTP/2', () => {
  it('serve health, ids, versions and a quota on one connection', async () => {
    const send = await serve();
    expect(await send('GET', '/healthcheck')).toMatchObject({ status: 200 });
    const created = await send('POST', '/notes', { 'x-request-id': 'order-4711', 'api-version': '2' });
    expect(created).toMatchObject({ status: 201, body: 'created' });
    expect([created.headers['x-request-id'], created.headers['api-version']]).toEqual(['order-4711', '2']);
    expect(await send('POST', '/notes', { 'api-version': '9' })).toMatchObject({ status: 406 });
    expect(await send('POST', '/broken')).toMatchObject({ status: 500 });
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await send('POST', '/notes')).status));
    expect(statuses.sort()).toEqual([201, 403, 403, 403]);
    const rejected = await send('POST', '/notes');
    expect([rejected.headers['content-type'], rejected.headers.ratelimit]).toEqual([
      'application/problem+json',
      '"notes";r=0',
    ]);
    expect(await send('DELETE', '/notes/1')).toMatchObject({ status: 201 });
    expect(await send('POST', '/notes')).toMatchObject({ status: 201 });
  });
});
