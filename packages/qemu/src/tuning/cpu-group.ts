import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CpuLimits } from './tuning.js';

/** The mount point of cgroups v2. */
export const CONTROL_GROUP_ROOT = '/sys/fs/cgroup';
const PARENT_GROUP = 'apistrata';

/** Converts CPU shares, as in cgroups v1 and in the compute API, to a cgroups v2 weight. */
function sharesToWeight(shares: number): number {
  const boundedShares = Math.min(Math.max(shares, 2), 262_144);
  return 1 + Math.floor(((boundedShares - 2) * 9_999) / 262_142);
}

/**
 * Creates the parent control group of all machines. Returns false if this computer has no writable cgroups v2 with a
 * CPU controller.
 */
async function prepareParentGroup(root: string): Promise<boolean> {
  try {
    const controllers = await readFile(join(root, 'cgroup.controllers'), 'utf8');
    if (!controllers.split(/\s+/).includes('cpu')) return false;
    await mkdir(join(root, PARENT_GROUP), { recursive: true });
    for (const group of [root, join(root, PARENT_GROUP)])
      await writeFile(join(group, 'cgroup.subtree_control'), '+cpu');
    return true;
  } catch {
    return false;
  }
}

/** Moves a process into a control group with CPU limits. Returns false if this computer has no writable cgroups v2. */
export async function limitProcess(
  name: string,
  pid: number,
  { shares, quotaUs, periodUs }: CpuLimits,
  root = CONTROL_GROUP_ROOT,
): Promise<boolean> {
  if (!(await prepareParentGroup(root))) return false;
  const group = join(root, PARENT_GROUP, name);
  await mkdir(group, { recursive: true });
  if (shares !== undefined) await writeFile(join(group, 'cpu.weight'), `${sharesToWeight(shares)}`);
  if (quotaUs !== undefined) await writeFile(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`);
  await writeFile(join(group, 'cgroup.procs'), `${pid}`);
  return true;
}

/** Removes the control group of a process that has ended, if the group exists. */
export async function removeGroup(name: string, root = CONTROL_GROUP_ROOT): Promise<void> {
  await rmdir(join(root, PARENT_GROUP, name)).catch(() => {});
}
