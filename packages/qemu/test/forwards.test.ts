import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseForward } from '../src/forwards/forward-rule.js';
import { Forwards } from '../src/forwards/forwards.js';
import type { MachineFolders } from '../src/network/network-mode.js';
import { freeRange } from './forwarded-port.js';

async function forwardsOf(...names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-forwards-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const folders = {
    machineIds: async () => [],
    folderOf: (id: string) => {
      mkdirSync(join(folder, id), { recursive: true });
      return { file: (name: string) => join(folder, id, name) };
    },
  } as unknown as MachineFolders;
  const lines: string[] = [];
  const port = await freeRange(names.length);
  const rules = names.map((name, index) => parseForward(`${name}${port + index}:22`));
  const forwards = new Forwards({ rules, address: '127.0.0.1', log: (line) => lines.push(line) });
  const start = async (id: string, name: string, projectId: string) =>
    (await forwards.assign({ id, name, projectId }, folders)).forwards.map(({ hostPort }) => hostPort - port);
  return { start, release: (id: string) => forwards.release(id), lines };
}

describe('port forwardings to servers with names', () => {
  it('do not lead to a server of another project with the same name', async () => {
    const { start, release, lines } = await forwardsOf('web:');
    expect(await start('a', 'web', 'p1')).toEqual([0]);
    await release('a');
    expect(await start('b', 'web', 'p2')).toEqual([0]);
    expect(await start('c', 'web', 'p1')).toEqual([]);
    expect(lines.at(-1)).toMatch(
      /^--forward web:\d+:22 matches servers of several projects: write p1\/web:\d+:22 for c$/,
    );
  });

  it('lead to the server of the specified project', async () => {
    const { start } = await forwardsOf('p1/web:', 'p2/web:');
    expect(await start('a', 'web', 'p2')).toEqual([1]);
    expect(await start('b', 'web', 'p1')).toEqual([0]);
    expect(await start('c', 'web', 'p3')).toEqual([]);
  });

  it('may belong to several servers of one project', async () => {
    const { start } = await forwardsOf('web:', 'web:');
    expect(await start('a', 'web', 'p1')).toEqual([0, 1]);
    expect(await start('b', 'web', 'p1')).toEqual([]);
  });
});
