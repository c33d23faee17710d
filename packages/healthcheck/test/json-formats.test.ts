import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CheckResult, type HealthcheckOptions, HealthcheckUnavailable } from '../src/index.js';
import { closing, serve } from './serve.js';

const states: Record<string, CheckResult> = {
  ok: { state: 'available' },
  slow: { state: 'degraded', reason: 'SLOW' },
  gone: { state: 'unavailable', reason: 'GONE', details: 'secret' },
};
const named = (...names: string[]) => names.map((name) => ({ name, check: () => states[name]! }));

async function response(options: HealthcheckOptions, accept = 'application/json') {
  const { request } = await serve(closing({ log: false, ...options }));
  const { status, headers, body } = await request('/healthcheck', { headers: { accept } });
  return { status, type: headers['content-type'], body };
}

describe('the format "status"', () => {
  it.each([
    [['ok'], 200, { status: 'ok' }],
    [['ok', 'slow'], 200, { status: 'degraded', reasons: ['SLOW'] }],
    [['ok', 'slow', 'gone'], 503, { status: 'error', reasons: ['SLOW', 'GONE'] }],
  ])('reports %j with %i', async (names, status, body) => {
    const given = await response({ backends: named(...names), format: 'status' });
    expect([given.status, given.type, JSON.parse(given.body)]).toEqual([status, 'application/json', body]);
  });
});

describe('the option errors', () => {
  const unavailable = { backends: named('ok', 'gone', 'slow') };

  it.each(['application/json', 'text/html', 'text/plain'])(
    '"problem" sends a problem document to %s',
    async (accept) => {
      const { status, type, body } = await response({ ...unavailable, errors: 'problem' }, accept);
      expect([status, type]).toEqual([503, 'application/problem+json']);
      expect(JSON.parse(body)).toEqual({
        code: 'UNAVAILABLE',
        title: 'Service Unavailable',
        status: 503,
        detail: 'GONE; SLOW',
        reasons: ['GONE', 'SLOW'],
      });
    },
  );

  it('"json" sends the format of the other packages', async () => {
    const { type, body } = await response({ ...unavailable, errors: 'json' });
    expect(type).toBe('application/json; charset=UTF-8');
    expect(JSON.parse(body)).toEqual({ error: { code: 'UNAVAILABLE', status: 503, message: 'GONE; SLOW' } });
  });

  it('a function returns the body', async () => {
    const errors: HealthcheckOptions['errors'] = ({ endpoint, reasons }, req) => ({
      contentType: 'text/x-own',
      body: `${req.method} ${endpoint}: ${reasons.join()}`,
    });
    const { status, type, body } = await response({ ...unavailable, errors });
    expect([status, type, body]).toEqual([503, 'text/x-own', 'GET healthcheck: GONE,SLOW']);
  });

  it('"next" passes the error to the error handlers, and without them the response is the documented one', async () => {
    const health = closing({ log: false, ...unavailable, errors: 'next' });
    const { request } = await serve((req, res) => {
      health(req, res, (error) => {
        const { status, code, endpoint } = error as HealthcheckUnavailable;
        res.writeHead(status).end(`${error instanceof HealthcheckUnavailable} ${code} ${endpoint}`);
      });
    });
    expect(await request('/healthcheck')).toMatchObject({ status: 503, body: 'true UNAVAILABLE healthcheck' });
    expect(await response({ ...unavailable, errors: 'next' }, 'text/plain')).toMatchObject({
      status: 503,
      body: 'OK\nGONE\nSLOW',
    });
  });

  it('changes neither available endpoints nor HEAD', async () => {
    const available = await response({ backends: named('ok'), errors: 'problem', format: 'status' });
    expect([available.status, available.type, available.body]).toEqual([200, 'application/json', '{"status":"ok"}']);
    const { request } = await serve(closing({ log: false, ...unavailable, errors: 'problem' }));
    expect(await request('/healthcheck', { method: 'HEAD' })).toMatchObject({ status: 503, body: '' });
  });

  it('is rejected with a suggestion if it is unknown', () => {
    expect(() => closing({ errors: 'problems' as never })).toThrow('Did you mean "problem"?');
  });
});

describe('the format "health+json"', () => {
  const expected = {
    status: 'fail',
    checks: {
      ok: [{ status: 'pass', observedValue: expect.any(Number), observedUnit: 'ms', time: expect.any(String) }],
      gone: [
        {
          status: 'fail',
          observedValue: expect.any(Number),
          observedUnit: 'ms',
          time: expect.any(String),
          output: 'GONE',
        },
      ],
    },
  };

  it('lists each check with its state, duration and last change, without details', async () => {
    const { status, type, body } = await response({ backends: named('ok', 'gone'), format: 'health+json' });
    expect([status, type]).toEqual([503, 'application/health+json']);
    expect(JSON.parse(body)).toEqual(expected);
  });

  it('is selected by Accept if checks are named, and includes the service', async () => {
    const options = { backends: named('ok', 'gone'), names: true, service: { name: 'orders', version: '1.4.2' } };
    const { type, body } = await response(options, 'application/health+json');
    expect(type).toBe('application/health+json');
    expect(JSON.parse(body)).toEqual({ ...expected, serviceId: 'orders', releaseId: '1.4.2' });
    expect((await response(options, '*/*')).type).toBe('text/plain; charset=UTF-8');
  });

  it('is not offered if checks are not named', async () => {
    const { type } = await response({ backends: named('ok') }, 'application/health+json');
    expect(type).toBe('text/plain; charset=UTF-8');
  });
});

it('an unknown format is rejected with a suggestion', () => {
  expect(() => closing({ format: 'health-json' as never })).toThrow('Did you mean "health+json"?');
});

it('metrics contain endpoints and checks', async () => {
  const health = closing({ log: false, backends: named('slow', 'gone'), groups: { live: { backends: named('ok') } } });
  const lines = (await health.metrics()).split('\n');
  expect(lines).toContain('healthcheck_up{endpoint="healthcheck"} 0');
  expect(lines).toContain('healthcheck_up{endpoint="live"} 1');
  expect(lines).toContain('healthcheck_check_up{check="slow"} 1');
  expect(lines).toContain('healthcheck_check_degraded{check="slow"} 1');
  expect(lines).toContain('healthcheck_check_up{check="gone"} 0');
  expect(lines.filter((line) => line.startsWith('# TYPE'))).toHaveLength(5);
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples.filter((line) => !/^\w+\{\w+="\w+"\} \d+(\.\d+)?(e-\d+)?$/.test(line))).toEqual([]);
});

it('metrics contain the duration and the last change of each check, and keep the change while the state is the same', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
  const timer = vi.spyOn(performance, 'now');
  onTestFinished(() => {
    vi.useRealTimers();
    timer.mockRestore();
  });
  let state: CheckResult['state'] = 'available';
  const check = () => {
    timer.mockReturnValue(performance.now() + 250);
    return { state };
  };
  timer.mockReturnValue(1_000);
  const health = closing({ log: false, backends: [{ name: 'db', cacheMs: 0, check }] });
  const sample = async (metric: string) => {
    const line = (await health.metrics()).split('\n').find((line) => line.startsWith(`healthcheck_check_${metric}{`));
    return line?.split('{check="db"} ')[1];
  };
  expect(await sample('duration_seconds')).toBe('0.25');
  expect(await sample('changed_timestamp_seconds')).toBe('1800000000');
  vi.setSystemTime(1_800_000_060_000);
  expect(await sample('changed_timestamp_seconds')).toBe('1800000000');
  state = 'unavailable';
  expect(await sample('changed_timestamp_seconds')).toBe('1800000060');
});

it('plain text names the failing check with names: true', async () => {
  const { status, type, body } = await response({ backends: named('ok', 'gone'), names: true }, 'text/plain');
  expect([status, type, body]).toEqual([503, 'text/plain; charset=UTF-8', 'ok: OK\ngone: GONE']);
});
