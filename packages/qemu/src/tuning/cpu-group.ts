import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CpuLimits } from './tuning.js';

/** The mount point of Linux control groups, version 2. */
export const CONTROL_GROUPS = '/sys/fs/cgroup';
const GROUP = 'apistrata';

/** Converts shares, of version 1 and of the API, to weights of version 2. */
function toWeight(shares: number): number {
  const bounded = Math.min(Math.max(shares, 2), 262_144);
  return 1 + Math.floor(((bounded - 2) * 9_999) / 262_142);
}

/** Creates the parent group. Returns true if control groups of version 2 with the cpu controller exist and are writable. */
async function prepareGroups(root: string): Promise<boolean> {
  try {
    const controllers = await readFile(join(root, 'cgroup.controllers'), 'utf8');
    if (!controllers.split(/\s+/).includes('cpu')) return false;
    await mkdir(join(root, GROUP), { recursive: true });
    for (const group of [root, join(root, GROUP)]) await writeFile(join(group, 'cgroup.subtree_control'), '+cpu');
    return true;
  } catch {
    return false;
  }
}

/** Moves a process into a control group with limits. Returns false if this computer has no writable groups. */
export async function limitProcess(
  name: string,
  pid: number,
  { shares, quotaUs, periodUs }: CpuLimits,
  root = CONTROL_GROUPS,
): Promise<boolean> {
  if (!(await prepareGroups(root))) return false;
  const group = join(root, GROUP, name);
  await mkdir(group, { recursive: true });
  if (shares !== undefined) await writeFile(join(group, 'cpu.weight'), `${toWeight(shares)}`);
  if (quotaUs !== undefined) await writeFile(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`);
  await writeFile(join(group, 'cgroup.procs'), `${pid}`);
  return true;
}

/** Removes the group of a process that has ended, if it exists. */
export async function removeGroup(name: string, root = CONTROL_GROUPS): Promise<void> {
  await rmdir(join(root, GROUP, name)).catch(() => {});
}
