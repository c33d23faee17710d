import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sampleServer } from '../testing/driver/sample-server.js';
import { ManualClock } from '../testing/manual-clock.js';
import { SimulatedDriver } from './simulated.js';
import type { Rule, RuleMatch } from './simulated-rules.js';

const origin = { action: 'os-stop', requestId: 'req-1' };
const work = { verb: 'power_off' } as const;
const server = sampleServer({ name: 'db-1', host: 'host1', imageId: 'image', metadata: { role: 'db', zone: 'x' } });
const signal = new AbortController().signal;

function driverWith(...rules: Rule[]): SimulatedDriver {
  return new SimulatedDriver({ clock: new ManualClock(), rules });
}

describe('a rule of the simulated driver', () => {
  it.each<[RuleMatch, boolean]>([
    [{}, true],
    [{ verb: 'power_off' }, true],
    [{ verb: ['spawn', 'power_off'] }, true],
    [{ verb: 'spawn' }, false],
    [{ action: 'os-stop' }, true],
    [{ action: 'shelve' }, false],
    [{ name: 'db-1' }, true],
    [{ name: 'db' }, false],
    [{ name: /^db-/ }, true],
    [{ metadata: { role: 'db' } }, true],
    [{ metadata: { role: 'db', zone: 'y' } }, false],
    [{ flavor: '1' }, true],
    [{ flavor: 'm1.tiny' }, true],
    [{ flavor: 'm1.small' }, false],
    [{ image: 'image' }, true],
    [{ image: 'other' }, false],
    [{ host: 'host1' }, true],
    [{ host: 'host2' }, false],
    [{ verb: 'power_off', host: 'host2' }, false],
  ])('that matches %j applies: %s', async (match, applies) => {
    const driver = driverWith({ match, fail: 'scripted failure' });
    expect(driver.isSynchronous(work, server, origin)).toBe(!applies);
    const performed = driver.perform(work, server, signal, origin);
    await (applies
      ? expect(performed).rejects.toThrow('scripted failure')
      : expect(performed).resolves.toBeUndefined());
  });

  it('fails the first calls, or all calls from a given number onward', async () => {
    const outcomes = async (rule: Rule) => {
      const driver = driverWith(rule);
      const calls = [1, 2, 3, 4, 5].map(() => driver.perform(work, server, signal, origin));
      return (await Promise.allSettled(calls)).map(({ status }) => status === 'rejected');
    };
    expect(await outcomes({ match: {}, fail: 'x', times: 2 })).toEqual([true, true, false, false, false]);
    expect(await outcomes({ match: {}, fail: 'x', fromCall: 4 })).toEqual([false, false, false, true, true]);
    expect(await outcomes({ match: {}, fail: 'x', fromCall: 2, times: 1 })).toEqual([false, true, false, false, false]);
  });

  it('measures its delay with the clock of the driver', async () => {
    const clock = new ManualClock();
    const driver = new SimulatedDriver({ clock, rules: [{ match: {}, delayMs: 1000 }] });
    let done = false;
    const performed = driver.perform(work, server, signal, origin).then(() => {
      done = true;
    });
    await clock.advance(999);
    expect(done).toBe(false);
    await clock.advance(1);
    await performed;
    expect(done).toBe(true);
  });

  it('blocks until it is released or the signal is aborted, and counts its calls', async () => {
    const driver = driverWith();
    const rule = driver.addRule({ match: {}, hang: true });
    const first = driver.perform(work, server, signal, origin);
    const ended = new AbortController();
    const second = driver.perform(work, server, ended.signal, origin);
    ended.abort(new Error('no longer needed'));
    await expect(second).rejects.toThrow('no longer needed');
    rule.release();
    await first;
    await driver.perform(work, server, signal, origin);
    expect(rule.calls).toBe(3);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is rejected if a key is misspelled', () => {
    expect(() => driverWith({ match: {}, fails: 'x' } as never)).toThrow('unknown key "fails"');
    expect(() => driverWith({ match: { nmae: 'x' } } as never)).toThrow('unknown key "nmae"');
    expect(() => driverWith({ fail: 'x' } as never)).toThrow('requires "match"');
  });
});

it('reports the CPU time of a machine in nanoseconds', async () => {
  const clock = new ManualClock();
  const launched = { ...server, launchedAt: clock.now() };
  await clock.advance(2_000);
  expect(await new SimulatedDriver({ clock }).diagnostics(launched)).toMatchObject({
    uptimeSeconds: 2,
    cpus: [{ id: 0, timeNs: 2_000_000_000 }],
  });
});
