import { writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { askAgent } from './guest-agent.js';

/** How often an agent is asked to let a guest go on: one that stays frozen is worse than any copy. */
const THAW_ATTEMPTS = 3;

/**
 * Has the files of a guest at rest. That is written down, so that a guest whose host program dies goes on with the next one.
 * @throws `GUEST_TIMEOUT`, `GUEST_REFUSED`; the guest goes on then
 */
export async function freeze(folder: MachineFolder): Promise<void> {
  const path = folder.file('agent');
  const status = await askAgent(path, 'guest-fsfreeze-status');
  await writeFile(folder.file('frozen'), '');
  // Frozen it is already where a process has died between this and the end of it.
  if (status === 'frozen') return;
  try {
    await askAgent(path, 'guest-fsfreeze-freeze');
  } catch (error) {
    await thaw(folder).catch(() => {});
    throw error;
  }
}

export async function isFrozen(folder: MachineFolder): Promise<boolean> {
  return (await askAgent(folder.file('agent'), 'guest-fsfreeze-status')) === 'frozen';
}

/** Lets a guest go on. */
export async function thaw(folder: MachineFolder): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await askAgent(folder.file('agent'), 'guest-fsfreeze-thaw');
      return await folder.removeFiles('frozen');
    } catch (error) {
      if (attempt === THAW_ATTEMPTS) throw error;
    }
  }
}
