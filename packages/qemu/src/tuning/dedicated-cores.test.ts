import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MachineFolder } from '../machine/machine-folder.js';
import { DedicatedCores, parseCoreList } from './dedicated-cores.js';

describe('cores that are dedicated to machines', () => {
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

  it('are exclusive, even for concurrent requests and for the next process', async () => {
    const [a, b, c] = folders as [MachineFolder, MachineFolder, MachineFolder];
    expect(await Promise.all([cores.claim(a, 2), cores.claim(b, 2)])).toEqual([
      [4, 5],
      [2, 3],
    ]);
    expect(await open().claim(a, 2)).toEqual([4, 5]);
    expect(await open().sharedCores()).toEqual([0, 1]);
    await expect(cores.claim(c, 2)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(await cores.claim(c, 1)).toEqual([1]);
  });

  it('are released, and replaced when their number changes', async () => {
    const [a, b] = folders as [MachineFolder, MachineFolder];
    await cores.claim(a, 2);
    expect(await cores.claim(a, 3)).toEqual([3, 4, 5]);
    expect([await cores.release(b), await cores.release(a), await cores.release(a)]).toEqual([false, true, false]);
    expect([await cores.hasDedicatedCores(), await cores.sharedCores()]).toEqual([false, [0, 1, 2, 3, 4, 5]]);
  });

  it('are parsed from CPU lists in the format of Linux', () => {
    expect(parseCoreList('0-2,5,7-8\n')).toEqual([0, 1, 2, 5, 7, 8]);
    expect(parseCoreList('')).toEqual([]);
  });
});
