import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitProcess, removeGroup } from './cpu-group.js';

// A temporary folder imitates the cgroups v2 file system: written values can be read back.
describe('the control group of a machine', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'apistrata-groups-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const readSetting = (name: string) => readFileSync(join(root, 'apistrata', 'm1', name), 'utf8');

  it('contains the process, and has the configured weight and quota', async () => {
    writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu io memory\n');
    expect(await limitProcess('m1', 4711, { shares: 1024, quotaUs: 20_000, periodUs: 100_000 }, root)).toBe(true);
    expect([readSetting('cpu.weight'), readSetting('cpu.max'), readSetting('cgroup.procs')]).toEqual([
      '39',
      '20000 100000',
      '4711',
    ]);
    for (const group of ['', 'apistrata'])
      expect(readFileSync(join(root, group, 'cgroup.subtree_control'), 'utf8')).toBe('+cpu');
    await limitProcess('m1', 4711, { shares: 262_144, quotaUs: undefined, periodUs: 100_000 }, root);
    expect([readSetting('cpu.weight'), readSetting('cpu.max')]).toEqual(['10000', '20000 100000']);
  });

  it('is skipped if control groups do not exist or do not limit processors', async () => {
    const limits = { shares: 2, quotaUs: undefined, periodUs: 100_000 };
    expect(await limitProcess('m1', 1, limits, root)).toBe(false);
    writeFileSync(join(root, 'cgroup.controllers'), 'hugetlb\n');
    expect(await limitProcess('m1', 1, limits, root)).toBe(false);
    expect(existsSync(join(root, 'apistrata'))).toBe(false);
    await removeGroup('m1', root);
  });
});
