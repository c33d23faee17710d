import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nonNullAssertionsIn, nonNullAssertionsOf } from './non-null.js';

/** The maximum for each package. Lower the number when you remove an assertion. */
const budget: Readonly<Record<string, number>> = {
  'compute-engine': 8,
  'compute-router': 11,
  explorer: 1,
  healthcheck: 2,
  microversion: 2,
  qemu: 2,
  'record-store': 13,
  'test-cloud': 5,
};

describe('non-null assertions', () => {
  it.each(readdirSync(join(import.meta.dirname, '..', 'packages')))('of %s are as many as its budget', (name) => {
    expect(nonNullAssertionsOf(name)).toBeLessThanOrEqual(budget[name] ?? 0);
  });

  it('are counted as the compiler reads them', () => {
    expect(nonNullAssertionsIn('const a = b!.c![0]; const d = !e; // f!')).toBe(2);
  });
});
