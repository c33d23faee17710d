import { describe, expect, it } from 'vitest';
import { closing, serve } from './serve.js';

const options = { groups: { live: { backends: [] }, ready: { backends: [] }, startup: { backends: [] } } };

async function service(more = {}) {
  const health = closing({ ...options, ...more });
  const { request } = await serve(health);
  const paths = ['/healthcheck', '/readyz', '/livez', '/startupz'];
  return { health, request, statuses: () => Promise.all(paths.map(async (path) => (await request(path)).status)) };
}

describe('readiness that the code sets', () => {
  it('makes the main endpoint and ready fail with its reason, until the service is ready again', async () => {
    const { health, request, statuses } = await service();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    health.markNotReady('REBUILDING\nINDEX');
    expect(await statuses()).toEqual([503, 503, 200, 200]);
    expect((await request('/readyz')).body).toBe('REBUILDING INDEX');
    health.markReady();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('is announced as a change', async () => {
    const { health, request } = await service();
    const seen: string[] = [];
    const backends = [{ name: 'a', check: () => ({ state: 'available' as const }) }];
    const checked = closing({ backends });
    checked.on('change', ({ from, to }) => seen.push(`${from} to ${to}`));
    await checked.status();
    checked.markNotReady();
    await checked.status();
    await checked.status();
    checked.markReady();
    await checked.status();
    expect(seen).toEqual(['available to unavailable', 'unavailable to available']);
    expect((await request('/healthcheck')).status).toBe(200);
    health.close();
  });

  it('is initially missing with startsReady: false, and can be awaited', async () => {
    const { health, request, statuses } = await service({ startsReady: false });
    let ready = false;
    const first = health.whenFirstReady().then(() => {
      ready = true;
    });
    expect(await statuses()).toEqual([503, 503, 200, 200]);
    expect((await request('/readyz')).body).toBe('NOT READY');
    expect(ready).toBe(false);
    health.markReady();
    await first;
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('is initially present by default', async () => {
    await expect(closing(options).whenFirstReady()).resolves.toBeUndefined();
  });

  it('does not revert a shutdown', async () => {
    const { health, statuses } = await service();
    health.shutdown();
    health.markReady();
    expect(await statuses()).toEqual([503, 503, 200, 200]);
  });
});
