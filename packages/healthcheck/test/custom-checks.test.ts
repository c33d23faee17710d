import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Check, type CheckResult, eventLoopDelay } from '../src/index.js';
import { closing, recordingLog, serve } from './serve.js';

afterEach(() => vi.useRealTimers());

const never = () => new Promise<CheckResult>(() => undefined);

/** A check that counts its runs; the test ends each run. */
function gated(timing: Partial<Check> = {}) {
  const ends: ((result: CheckResult) => void)[] = [];
  const check: Check = { name: 'gated', check: () => new Promise((resolve) => ends.push(resolve)), ...timing };
  return {
    check,
    runs: () => ends.length,
    end: (index: number, state: CheckResult['state'] = 'available') => ends[index]!({ state }),
  };
}

describe('a custom check', () => {
  it.each([
    ['available', 'OK', 200],
    ['degraded', 'DEGRADED', 200],
    ['unavailable', 'UNAVAILABLE', 503],
  ] as const)('that is %s returns the reason %s and %i', async (state, reason, status) => {
    const { request } = await serve(closing({ backends: [{ name: 'own', check: () => ({ state }) }] }));
    expect(await request('/healthcheck')).toMatchObject({ status, body: reason });
  });

  it('shows its reason to every client, and its details only if the endpoint is detailed', async () => {
    const own: Check = { name: 'own', check: () => ({ state: 'degraded', reason: 'SLOW\ntoday', details: 'secret' }) };
    const bodies = [];
    for (const detailed of [false, true]) {
      const { request } = await serve(closing({ backends: [own], detailed }));
      for (const accept of ['text/plain', 'text/html', 'application/json']) {
        bodies.push((await request('/healthcheck', { headers: { accept } })).body);
      }
    }
    expect(bodies.map((body) => body.includes('SLOW today'))).toEqual([true, true, true, true, true, true]);
    expect(bodies.map((body) => body.includes('secret'))).toEqual([false, false, false, false, true, true]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no database');
      },
      'no database',
    ],
    ['rejects', () => Promise.reject(new Error('no database')), 'no database'],
    ['rejects with no error', () => Promise.reject('no database'), 'no database'],
    ['returns nothing', () => undefined, 'The check must return { state }, one of available, degraded, unavailable'],
    [
      'returns another state',
      () => ({ state: 'ok' }),
      'The check must return { state }, one of available, degraded, unavailable',
    ],
  ])('that %s is unavailable with a reason, and logged', async (_title, check, details) => {
    const log = recordingLog();
    const health = closing({ backends: [{ name: 'db', check: check as Check['check'] }], log });
    const { request } = await serve(health);
    expect(await request('/healthcheck')).toMatchObject({ status: 503, body: 'CHECK FAILED: db' });
    expect((await health.status()).results[0]!.details).toBe(details);
    expect(log.lines[0]).toBe(`error healthcheck: CHECK FAILED: db: ${details}`);
  });

  it('that never returns is unavailable after its timeout, and its signal is aborted', async () => {
    let signal: AbortSignal | undefined;
    const check: Check['check'] = (given) => {
      signal = given;
      return never();
    };
    const { request } = await serve(closing({ backends: [{ name: 'hung', check, timeoutMs: 30 }] }));
    expect(await request('/healthcheck')).toMatchObject({ status: 503, body: 'CHECK TIMED OUT: hung' });
    expect(signal!.aborted).toBe(true);
    expect(signal!.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('that ignores its signal is started a limited number of times', async () => {
    let runs = 0;
    const check = () => {
      runs++;
      return never();
    };
    const health = closing({ backends: [{ name: 'hung', check, timeoutMs: 5 }] });
    for (let probe = 0; probe < 8; probe++) expect((await health.status()).available).toBe(false);
    expect(runs).toBe(4);
  });

  it('recovers after a late run has ended', async () => {
    const { check, end, runs } = gated({ timeoutMs: 5 });
    const health = closing({ backends: [check] });
    for (let probe = 0; probe < 5; probe++) await health.status();
    end(0);
    await new Promise((resolve) => setImmediate(resolve));
    const probe = health.status();
    end(runs() - 1);
    expect((await probe).available).toBe(true);
  });

  it('runs concurrently with the others, and results are in configured order', async () => {
    const order: string[] = [];
    let release: () => void = () => undefined;
    const first: Check = {
      name: 'first',
      check: () =>
        new Promise((resolve) => {
          release = () => {
            order.push('first');
            resolve({ state: 'available', reason: 'FIRST' });
          };
        }),
    };
    const second: Check = {
      name: 'second',
      check: () => {
        order.push('second');
        release();
        return { state: 'available', reason: 'SECOND' };
      },
    };
    const { request } = await serve(closing({ backends: [first, 'second'], checks: [second] }));
    expect((await request('/healthcheck')).body).toBe('FIRST\nSECOND');
    expect(order).toEqual(['second', 'first']);
  });
});

describe('runs of a check', () => {
  it('are shared by 10,000 concurrent probes: the check runs once', async () => {
    const PROBES = 10_000;
    const SOCKETS = 50;
    const { check, runs, end } = gated();
    const health = closing({ backends: [check] });
    let requested = 0;
    const { port } = await serve((req, res) => {
      health(req, res);
      if (++requested === PROBES) setTimeout(() => end(0), 1_000);
    });
    const probes = 'GET /healthcheck HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(PROBES / SOCKETS);
    const responses = Array.from({ length: SOCKETS }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write(probes);
      let text = '';
      for await (const chunk of socket) {
        text += chunk;
        if (text.split('HTTP/1.1 200 OK').length - 1 === PROBES / SOCKETS) break;
      }
      return text.split('\r\n\r\nOK').length - 1;
    });
    expect((await Promise.all(responses)).reduce((sum, count) => sum + count, 0)).toBe(PROBES);
    expect(runs()).toBe(1);
  });

  it('are cached for cacheMs, and shared by all endpoints of the middleware', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let runs = 0;
    const check: Check = { name: 'db', cacheMs: 1_000, check: () => ({ state: 'available', reason: `RUN ${++runs}` }) };
    const health = closing({ backends: [check], groups: { ready: { backends: ['db'] } } });
    const reason = async (group?: string) => (await health.status(group)).results[0]!.reason;
    expect([await reason(), await reason('ready'), await reason()]).toEqual(['RUN 1', 'RUN 1', 'RUN 1']);
    vi.advanceTimersByTime(1_000);
    expect([await reason(), await reason('ready')]).toEqual(['RUN 2', 'RUN 2']);
  });

  it('by default, are shared only by concurrent probes', async () => {
    let runs = 0;
    const health = closing({
      backends: [{ name: 'db', check: () => ({ state: 'available', reason: `RUN ${++runs}` }) }],
    });
    await health.status();
    await health.status();
    expect(runs).toBe(2);
  });
});

describe('a background check', () => {
  it('runs without probes, responds with its last result, and announces a change', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { check, runs, end } = gated({ refreshMs: 1_000 });
    const health = closing({ backends: [check] });
    const changes: string[] = [];
    health.on('change', ({ endpoint, from, to }) => changes.push(`${endpoint}: ${from} to ${to}`));
    expect(runs()).toBe(1);
    const waiting = health.status();
    end(0);
    expect((await waiting).state).toBe('available');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs()).toBe(2);
    expect((await health.status()).state).toBe('available');
    end(1, 'unavailable');
    await vi.advanceTimersByTimeAsync(0);
    expect(changes).toEqual(['healthcheck: available to unavailable']);
    expect((await health.status()).state).toBe('unavailable');
    health.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs()).toBe(2);
  });
});

it('a check belongs to every endpoint that names it', async () => {
  const delay = eventLoopDelay();
  const health = closing({ backends: [delay], groups: { live: { backends: [delay] } } });
  expect((await health.status('live')).results[0]!.name).toBe('event_loop_delay');
});
