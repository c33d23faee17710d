import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: benches have no types
import { measuredFrom, sessionsAt } from '../bench/mixed-plan.mjs';

interface Session {
  readonly at: number;
  readonly steps: readonly { readonly method: string }[];
  readonly isLifecycle: boolean;
}

const SECONDS = 600;
const sessions = (rate: number, seed: number): readonly Session[] => [...sessionsAt(rate, SECONDS * 1000, seed)];

describe('the mixed load', () => {
  it.each([300, 1000])('has %s requests per second, and one in 20 writes', (rate) => {
    const steps = sessions(rate, 1).flatMap((session) => session.steps);
    expect(steps.length / SECONDS / rate).toBeCloseTo(1, 1);
    const writes = steps.filter(({ method }) => method !== 'GET').length;
    expect(writes / steps.length).toBeGreaterThan(0.045);
    expect(writes / steps.length).toBeLessThan(0.055);
  });

  it('is the same for the same seed, and its sessions start in order', () => {
    expect(sessions(100, 7)).toEqual(sessions(100, 7));
    expect(sessions(100, 7)).not.toEqual(sessions(100, 8));
    const starts = sessions(100, 7).map(({ at }) => at);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it('writes only to servers that the same session creates and deletes', () => {
    for (const { steps, isLifecycle } of sessions(100, 1)) {
      const writes = steps.filter(({ method }) => method !== 'GET');
      expect(writes.length > 0).toBe(isLifecycle);
      if (isLifecycle) expect([writes[0]?.method, writes.at(-1)?.method]).toEqual(['POST', 'DELETE']);
    }
  });

  it('is measured from the intended times, but never from a time after the request', () => {
    expect(measuredFrom(100, 103)).toBe(100);
    expect(measuredFrom(100, 99.4)).toBe(99.4);
  });

  it('contains names of values instead of ids and times of the recorded cloud', () => {
    const text = readFileSync(join(import.meta.dirname, '../bench/client-sessions.json'), 'utf8');
    expect(text.match(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT/g)).toBeNull();
  });
});
