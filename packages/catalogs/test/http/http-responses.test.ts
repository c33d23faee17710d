import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpImages, httpVolumes, ServiceSession } from '../../src/http/index.js';
import { startFakeIdentity } from '../fake-services/fake-identity.js';

const caller = { userId: 'ada', projectId: 'demo', roles: ['member'] };
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function session(): Promise<ServiceSession> {
  const identity = await startFakeIdentity();
  onTestFinished(() => identity.close());
  return new ServiceSession(identity.credentials);
}

describe('the response of another service', () => {
  it('is read up to its limit, and a larger one counts as a failure of that service', async () => {
    let written = 0;
    let closed: () => void = () => {};
    const noticed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await serve((_req, res) => {
      res.on('close', closed);
      res.writeHead(200, { 'Content-Type': 'application/json' });
      const more = () => {
        while (!res.destroyed && res.write(' '.repeat(65_536))) written += 65_536;
      };
      res.on('drain', more);
      more();
    });
    const images = httpImages({ url, session: await session(), maxResponseBytes: 1_000_000, retries: 0 });
    await expect(images.get(caller, IMAGE)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      message: 'The image service returned an invalid response: the response is larger than 1000000 bytes.',
    });
    await noticed;
    expect(written).toBeLessThan(50_000_000);
  });

  it('is measured after decompression', async () => {
    const { gzipSync } = await import('node:zlib');
    const compressedBody = gzipSync(Buffer.alloc(20_000_000, ' '));
    const url = await serve((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      res.end(compressedBody);
    });
    expect(compressedBody.length).toBeLessThan(100_000);
    const volumes = httpVolumes({ url, session: await session(), maxResponseBytes: 1_000_000, retries: 0 });
    await expect(volumes.getVolume(caller, IMAGE)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  });

  it('that is interrupted is requested again, and repeated interruptions are a failure of that service', async () => {
    let requested = 0;
    const url = await serve((req, res) => {
      requested++;
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
      res.write('{"id":', () => req.socket.destroy());
    });
    const images = httpImages({ url, session: await session(), retries: 2 });
    await expect(images.get(caller, IMAGE)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect(requested).toBe(3);
  });
});
