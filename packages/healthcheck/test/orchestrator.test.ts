import { describe, expect, it } from 'vitest';
import type { Check, CheckState } from '../src/index.js';
import { closing, recordingLog, serve } from './serve.js';

/** A service with a database and a cache whose states the test sets. */
function service() {
  const states: Record<string, CheckState> = { db: 'available', cache: 'available' };
  const check = (name: string): Check => ({
    name,
    check: () => ({ state: states[name]!, reason: `${name} ${states[name]}` }),
  });
  const health = closing({
    backends: 'db, cache',
    checks: [check('db'), check('cache')],
    groups: {
      live: { backends: [] },
      ready: { backends: ['db'] },
      startup: { backends: 'db' },
      batch: { backends: ['cache'], path: '/internal/batch' },
      quiet: { backends: ['cache'] },
    },
  });
  return { states, health };
}

describe('groups', () => {
  it('respond at their own paths, each with its own checks of one registry', async () => {
    const { states, health } = service();
    const { request } = await serve(health);
    states.db = 'unavailable';
    const paths = ['/livez', '/readyz', '/startupz', '/internal/batch', '/healthcheck', '/quiet'];
    const responses = await Promise.all(paths.map((path) => request(path)));
    expect(responses.map(({ status, body }) => `${status} ${body}`)).toEqual([
      '200 ',
      '503 db unavailable',
      '503 db unavailable',
      '200 cache available',
      '503 db unavailable\ncache available',
      '404 ',
    ]);
  });

  it('report their status in code', async () => {
    const { states, health } = service();
    states.cache = 'degraded';
    const measured = { durationMs: expect.any(Number), changedAt: expect.any(Date) };
    expect(await health.status()).toEqual({
      state: 'degraded',
      available: true,
      results: [
        { name: 'db', state: 'available', available: true, reason: 'db available', details: '', ...measured },
        { name: 'cache', state: 'degraded', available: true, reason: 'cache degraded', details: '', ...measured },
      ],
    });
    expect((await health.status('quiet')).state).toBe('degraded');
    await expect(health.status('redy')).rejects.toThrow('Did you mean "ready"?');
  });
});

describe('a change of state', () => {
  it('has a time, which is the same until the next change', async () => {
    const { states, health } = service();
    const changedAt = async () => (await health.status()).results[0]!.changedAt;
    const first = await changedAt();
    expect(await changedAt()).toBe(first);
    states.db = 'unavailable';
    const second = await changedAt();
    expect(second).not.toBe(first);
    expect(second.getTime()).toBeGreaterThanOrEqual(first.getTime());
    expect(await changedAt()).toBe(second);
  });

  it('is announced once, by the endpoint whose state has changed', async () => {
    const { states, health } = service();
    const seen: string[] = [];
    const listener = ({ endpoint, from, to, status }: Parameters<Parameters<typeof health.on>[1]>[0]) =>
      seen.push(`${endpoint}: ${from} to ${to} (${status.results.length})`);
    health.on('change', listener);
    await health.status();
    await health.status('ready');
    states.db = 'degraded';
    await health.status();
    await health.status();
    states.db = 'unavailable';
    await health.status('ready');
    health.off('change', listener);
    states.db = 'available';
    await health.status();
    expect(seen).toEqual(['healthcheck: available to degraded (2)', 'ready: available to unavailable (1)']);
  });
});

it('a listener that throws is logged, and does not affect the response', async () => {
  const log = recordingLog();
  const health = closing({ groups: { ready: { backends: [] } }, log });
  health.on('change', () => {
    throw new Error('bad listener');
  });
  health.shutdown();
  expect((await health.status('ready')).available).toBe(false);
  expect(log.lines[0]).toBe('error healthcheck: a listener of "change" threw: Error: bad listener');
});

describe('shutdown', () => {
  it('fails ready and the main endpoint immediately, while live responds and requests are served', async () => {
    const { health } = service();
    const { request } = await serve((req, res) => health(req, res, () => res.end('served')));
    health.shutdown();
    const paths = ['/readyz', '/healthcheck', '/internal/batch', '/livez', '/startupz', '/things'];
    const responses = await Promise.all(paths.map((path) => request(path)));
    expect(responses.map(({ status, body }) => `${status} ${body}`)).toEqual([
      '503 SHUTTING DOWN',
      '503 SHUTTING DOWN',
      '503 SHUTTING DOWN',
      '200 ',
      '200 db available',
      '200 served',
    ]);
  });

  it('takes precedence over a check that is still running', async () => {
    let end: (result: { state: 'available' }) => void = () => undefined;
    const health = closing({
      groups: {
        ready: {
          backends: [
            {
              name: 'slow',
              check: () =>
                new Promise((resolve) => {
                  end = resolve;
                }),
            },
          ],
        },
      },
    });
    const status = health.status('ready');
    health.shutdown();
    end({ state: 'available' });
    expect((await status).available).toBe(false);
  });

  it('is announced as a change, once', () => {
    const { health } = service();
    const seen: string[] = [];
    health.on('change', ({ endpoint, to }) => seen.push(`${endpoint} ${to}`));
    health.shutdown();
    health.shutdown();
    expect(seen).toEqual(['healthcheck unavailable', 'ready unavailable', 'batch unavailable', 'quiet unavailable']);
  });

  it('sets a group to the state that its option selects', async () => {
    const health = closing({
      groups: { live: { backends: [], failsOnShutdown: true }, ready: { backends: [], failsOnShutdown: false } },
    });
    health.shutdown();
    expect([(await health.status('live')).available, (await health.status('ready')).available]).toEqual([false, true]);
  });
});
