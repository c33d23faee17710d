import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CpuLimits } from './tuning.js';

/** Where Linux has its control groups, of version 2. */
export const CONTROL_GROUPS = '/sys/fs/cgroup';
const OURS = 'apistrata';

/** What shares, of version 1 and of the API, are as weights of version 2. */
function weight(shares: number): number {
  const bounded = Math.min(Math.max(shares, 2), 262_144);
  return 1 + Math.floor(((bounded - 2) * 9_999) / 262_142);
}

/** Whether control groups of version 2 that bound processors are there, and may be written. */
async function prepared(root: string): Promise<boolean> {
  try {
    const controllers = await readFile(join(root, 'cgroup.controllers'), 'utf8');
    if (!controllers.split(/\s+/).includes('cpu')) return false;
    await mkdir(join(root, OURS), { recursive: true });
    for (const group of [root, join(root, OURS)]) await writeFile(join(group, 'cgroup.subtree_control'), '+cpu');
    return true;
  } catch {
    return false;
  }
}

/** Puts a process into a control group with its bounds. False where this computer has no groups that we may write. */
export async function boundProcess(
  name: string,
  pid: number,
  { shares, quotaUs, periodUs }: CpuLimits,
  root = CONTROL_GROUPS,
): Promise<boolean> {
  if (!(await prepared(root))) return false;
  const group = join(root, OURS, name);
  await mkdir(group, { recursive: true });
  if (shares !== undefined) await writeFile(join(group, 'cpu.weight'), `${weight(shares)}`);
  if (quotaUs !== undefined) await writeFile(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`);
  await writeFile(join(group, 'cgroup.procs'), `${pid}`);
  return true;
}

/** Removes the group of a process that has ended, where there is one. */
export async function forgetGroup(name: string, root = CONTROL_GROUPS): Promise<void> {
  await rmdir(join(root, OURS, name)).catch(() => {});
}
