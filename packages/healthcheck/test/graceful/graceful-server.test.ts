import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { type GracefulServerOptions, gracefulServer } from '../../src/server/index.js';
import { closing, recordingLog, requestFrom } from '../serve.js';

async function graceful(options: GracefulServerOptions = {}) {
  const server = createServer((req, res) => void res.end(`app ${req.url}`));
  const service = gracefulServer(server, { signals: [], delayMs: 0, quietMs: 10, log: false, ...options });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => void (await service.shutdown()));
  const { port } = server.address() as AddressInfo;
  return { server, service, request: (path: string) => requestFrom('127.0.0.1', port, path) };
}

describe('gracefulServer()', () => {
  it('serves the endpoints before the listeners of the server', async () => {
    const { request } = await graceful({ health: { groups: { ready: { backends: [] } } } });
    expect([(await request('/healthcheck')).body, (await request('/readyz')).status]).toEqual(['', 200]);
    expect((await request('/things')).body).toBe('app /things');
  });

  it('serves only the health endpoints on a separate port', async () => {
    const { service, request } = await graceful({ port: 0, host: '127.0.0.1' });
    await eventually(() => expect(service.healthServer?.listening).toBe(true));
    const port = (service.healthServer?.address() as AddressInfo | undefined)?.port ?? 0;
    expect((await requestFrom('127.0.0.1', port, '/healthcheck')).status).toBe(200);
    expect((await requestFrom('127.0.0.1', port, '/things')).status).toBe(404);
    expect((await request('/healthcheck')).body).toBe('app /healthcheck');
    await service.shutdown();
    expect(service.healthServer?.listening).toBe(false);
  });

  it('accepts an existing health check, whose state the code sets', async () => {
    const health = closing({ startsReady: false });
    const { service, request } = await graceful({ health });
    expect(service.health).toBe(health);
    expect((await request('/healthcheck')).status).toBe(503);
    service.health.markReady();
    await service.health.whenFirstReady();
    expect((await request('/healthcheck')).status).toBe(200);
    service.health.markNotReady('MIGRATING');
    expect(await request('/healthcheck')).toMatchObject({ status: 503, body: 'MIGRATING' });
  });

  it('runs hooks in order, serves requests until the first one ends, and runs the last ones after the beacons', async () => {
    const steps: string[] = [];
    let release: () => void = () => {};
    const { service, request } = await graceful({
      beforeShutdown: [
        () =>
          new Promise<void>((resolve) => {
            steps.push('before');
            release = resolve;
          }),
        () => steps.push('before, second'),
      ],
      onShutdown: () => steps.push('end'),
    });
    const [first, second] = [service.beacon('mail'), service.beacon()];
    const ending = service.shutdown();
    expect(service.shutdown()).toBe(ending);
    expect((await request('/healthcheck')).status).toBe(503);
    expect((await request('/things')).body).toBe('app /things');
    release();
    await eventually(() => expect(request('/things')).rejects.toThrow());
    expect(steps).toEqual(['before', 'before, second']);
    first.end();
    first.end();
    second.end();
    expect(await ending).toEqual([]);
    expect(steps).toEqual(['before', 'before, second', 'end']);
  });

  it('reports the beacons that are active at the deadline, and does not run further hooks', async () => {
    const log = recordingLog();
    const steps: string[] = [];
    const { service } = await graceful({ timeoutMs: 200, log, onShutdown: () => steps.push('end') });
    const beacon = service.beacon('import of orders');
    const errors = await service.shutdown();
    expect(errors.map(String)).toEqual([
      'Error: the shutdown took longer than 200 ms, waiting for beacons: import of orders',
    ]);
    expect(log.lines).toEqual([
      'error healthcheck: the shutdown took longer than 200 ms, waiting for beacons: import of orders',
    ]);
    beacon.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual([]);
  });

  it.each([
    [{ onshutdown: 'end' }, /Did you mean "onShutdown"/],
    [{ onShutdown: 'end' }, /onShutdown.*function/],
    [{ port: 70_000 }, /port.*0 to 65535/],
    [{ timeoutMs: 4_000 }, /timeoutMs.*delayMs/],
    [{ graceMs: -1 }, /graceMs/],
  ])('rejects %j', (options, message) => {
    expect(() => gracefulServer(createServer(), { ...options, signals: [] } as never)).toThrow(message);
  });
});
