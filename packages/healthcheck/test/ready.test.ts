import { describe, expect, it } from 'vitest';
import { closing, serve } from './serve.js';

const options = { groups: { live: { backends: [] }, ready: { backends: [] }, startup: { backends: [] } } };

async function service(more = {}) {
  const health = closing({ ...options, ...more });
  const { ask } = await serve(health);
  const paths = ['/healthcheck', '/readyz', '/livez', '/startupz'];
  return { health, ask, statuses: () => Promise.all(paths.map(async (path) => (await ask(path)).status)) };
}

describe('readiness set by hand', () => {
  it('fails the main endpoint and ready with its reason, until the service is ready again', async () => {
    const { health, ask, statuses } = await service();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    health.markNotReady('REBUILDING\nINDEX');
    expect(await statuses()).toEqual([503, 503, 200, 200]);
    expect((await ask('/readyz')).body).toBe('REBUILDING INDEX');
    health.markReady();
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('is announced as a change', async () => {
    const { health, ask } = await service();
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
    expect((await ask('/healthcheck')).status).toBe(200);
    health.close();
  });

  it('is missing at first where the service says so, and is waited for', async () => {
    const { health, ask, statuses } = await service({ startsReady: false });
    let ready = false;
    const first = health.whenFirstReady().then(() => {
      ready = true;
    });
    expect(await statuses()).toEqual([503, 503, 200, 200]);
    expect((await ask('/readyz')).body).toBe('NOT READY');
    expect(ready).toBe(false);
    health.markReady();
    await first;
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('is there at first by default', async () => {
    await expect(closing(options).whenFirstReady()).resolves.toBeUndefined();
  });

  it('does not undo a shutdown', async () => {
    const { health, statuses } = await service();
    health.shutdown();
    health.markReady();
    expect(await statuses()).toEqual([503, 503, 200, 200]);
  });
});
