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
  built.failed(new Error('no namespaces\nin detail'));
  expect(changes).toEqual(['networks cannot be built: no namespaces']);
});

it('does not report a problem with the computer if the plan cannot be read', () => {
  const { built, lines, changes } = health();
  for (let i = 0; i < 3; i++) built.unplanned(new Error('no database'));
  expect([lines, changes]).toEqual([['networks could not be built: no database'], []]);
});

it('reports the second failure in a row, once, and the first success after it', () => {
  const { built, lines, changes } = health();
  built.succeeded();
  built.failed(new Error('busy'));
  built.succeeded();
  expect(changes).toEqual([]);
  for (let i = 0; i < 3; i++) built.failed(new Error('busy'));
  expect(built.failing).toBe(true);
  built.succeeded();
  expect(built.failing).toBe(false);
  expect(changes).toEqual(['networks cannot be built: busy', null]);
  expect(lines).toEqual([
    'networks could not be built: busy',
    'networks could not be built: busy',
    'guests can be connected again',
  ]);
});

it('reports a problem of networks that were built, once, and its end', () => {
  const { built, lines, changes } = health();
  for (let i = 0; i < 2; i++) built.succeeded('no tunnels to h2');
  expect(built.failing).toBe(false);
  built.succeeded();
  expect(changes).toEqual(['no tunnels to h2', null]);
  expect(lines).toEqual(['no tunnels to h2', 'guests can be connected again']);
});
