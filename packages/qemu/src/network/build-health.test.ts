import { expect, it } from 'vitest';
import { BuildHealth } from './build-health.js';

function health() {
  const lines: string[] = [];
  const changes: (string | null)[] = [];
  const built = new BuildHealth((line) => lines.push(line));
  built.onChange(() => changes.push(built.problem));
  return { built, lines, changes };
}

it('reports the failure of the first attempt', () => {
  const { built, changes } = health();
  built.recordFailure(new Error('no namespaces\nin detail'));
  expect(changes).toEqual(['networks cannot be built: no namespaces']);
});

it('does not report a problem with the computer if the plan cannot be read', () => {
  const { built, lines, changes } = health();
  for (let i = 0; i < 3; i++) built.recordUnreadablePlan(new Error('no database'));
  expect([lines, changes]).toEqual([['networks could not be built: no database'], []]);
});

it('reports the second of several consecutive failures, and the first success after them', () => {
  const { built, lines, changes } = health();
  built.recordSuccess();
  built.recordFailure(new Error('busy'));
  built.recordSuccess();
  expect(changes).toEqual([]);
  for (let i = 0; i < 3; i++) built.recordFailure(new Error('busy'));
  expect(built.isFailing).toBe(true);
  built.recordSuccess();
  expect(built.isFailing).toBe(false);
  expect(changes).toEqual(['networks cannot be built: busy', null]);
  expect(lines).toEqual([
    'networks could not be built: busy',
    'networks could not be built: busy',
    'guests can be connected to networks again',
  ]);
});

it('reports once a problem that remains although networks were built, and then its end', () => {
  const { built, lines, changes } = health();
  for (let i = 0; i < 2; i++) built.recordSuccess('no tunnels to h2');
  expect(built.isFailing).toBe(false);
  built.recordSuccess();
  expect(changes).toEqual(['no tunnels to h2', null]);
  expect(lines).toEqual(['no tunnels to h2', 'guests can be connected to networks again']);
});
