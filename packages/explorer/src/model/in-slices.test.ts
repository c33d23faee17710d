import { expect, it } from 'vitest';
import { runInSlices } from './in-slices.js';

function* steps(count: number, performed: number[]): Generator<void> {
  for (let step = 0; step < count; step += 1) {
    const end = performance.now() + 10;
    while (performance.now() < end);
    performed.push(step);
    yield;
  }
}

it('performs all steps, and serves other callbacks between slices', async () => {
  const performed: number[] = [];
  let seen = 0;
  setImmediate(() => (seen = performed.length));
  await runInSlices(steps(4, performed));
  expect(performed).toEqual([0, 1, 2, 3]);
  expect(seen).toBeGreaterThan(0);
  expect(seen).toBeLessThan(4);
});

it('rejects with the error of a step', async () => {
  const failing = function* (): Generator<void> {
    yield;
    throw new RangeError('no more');
  };
  await expect(runInSlices(failing())).rejects.toThrow('no more');
});
