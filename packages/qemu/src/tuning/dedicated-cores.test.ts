import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MachineFolder } from '../machine/machine-folder.js';
import { coreList, DedicatedCores } from './dedicated-cores.js';

describe('cores that machines have to themselves', () => {
  let directory: string;
  let folders: readonly MachineFolder[];
  let cores: DedicatedCores;
  const open = () =>
    new DedicatedCores(
      async () => folders,
      async () => [0, 1, 2, 3, 4, 5],
    );
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'apistrata-cores-'));
    folders = ['a', 'b', 'c'].map((name) => new MachineFolder(join(directory, name), undefined));
    for (const { path } of folders) mkdirSync(path);
    cores = open();
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('are theirs alone, also of those that ask at once, and also for the next program', async () => {
    const [a, b, c] = folders as [MachineFolder, MachineFolder, MachineFolder];
    expect(await Promise.all([cores.take(a, 2), cores.take(b, 2)])).toEqual([
      [4, 5],
      [2, 3],
    ]);
    expect(await open().take(a, 2)).toEqual([4, 5]);
    expect(await open().shared()).toEqual([0, 1]);
    await expect(cores.take(c, 2)).rejects.toMatchObject({ code: 'NOT_POSSIBLE' });
    expect(await cores.take(c, 1)).toEqual([1]);
  });

  it('are given back, and others when their number has changed', async () => {
    const [a, b] = folders as [MachineFolder, MachineFolder];
    await cores.take(a, 2);
    expect(await cores.take(a, 3)).toEqual([3, 4, 5]);
    expect([await cores.giveBack(b), await cores.giveBack(a), await cores.giveBack(a)]).toEqual([false, true, false]);
    expect([await cores.inUse(), await cores.shared()]).toEqual([false, [0, 1, 2, 3, 4, 5]]);
  });

  it('are listed as Linux lists them', () => {
    expect(coreList('0-2,5,7-8\n')).toEqual([0, 1, 2, 5, 7, 8]);
    expect(coreList('')).toEqual([]);
  });
});
