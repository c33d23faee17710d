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

describe('the answer of another service', () => {
  it('is read no further than its limit, and counts as a failure of that service beyond', async () => {
    let written = 0;
    let hungUp: () => void = () => {};
    const noticed = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const url = await serve((_req, res) => {
      res.on('close', hungUp);
      res.writeHead(200, { 'Content-Type': 'application/json' });
      const more = () => {
        while (!res.destroyed && res.write(' '.repeat(65_536))) written += 65_536;
      };
      res.on('drain', more);
      more();
    });
    const images = httpImages({ url, session: await session(), maxAnswerBytes: 1_000_000, retries: 0 });
    await expect(images.get(caller, IMAGE)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      message: 'The image service misbehaves: the answer is larger than 1000000 bytes.',
    });
    await noticed;
    expect(written).toBeLessThan(50_000_000);
  });

  it('is counted after it was unpacked', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(20_000_000, ' '));
    const url = await serve((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      res.end(bomb);
    });
    expect(bomb.length).toBeLessThan(100_000);
    const volumes = httpVolumes({ url, session: await session(), maxAnswerBytes: 1_000_000, retries: 0 });
    await expect(volumes.getVolume(caller, IMAGE)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  });

  it('that breaks off is asked for again, and is no defect of ours when it does so always', async () => {
    let asked = 0;
    const url = await serve((req, res) => {
      asked++;
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
      res.write('{"id":', () => req.socket.destroy());
    });
    const images = httpImages({ url, session: await session(), retries: 2 });
    await expect(images.get(caller, IMAGE)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect(asked).toBe(3);
  });
});
