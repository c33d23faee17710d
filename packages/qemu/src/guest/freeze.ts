import { writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { callAgent } from './guest-agent.js';

/** Number of attempts to thaw a guest: a guest that stays frozen is worse than a failed copy. */
const THAW_ATTEMPTS = 3;

/**
 * Freezes the file systems of a guest. This is recorded on disk, so that the next process thaws the guest if this one
 * dies.
 *
 * @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED`, after thawing the guest
 */
export async function freeze(folder: MachineFolder): Promise<void> {
  const path = folder.file('agent');
  const status = await callAgent(path, 'guest-fsfreeze-status');
  await writeFile(folder.file('frozen'), '');
  // Already frozen by a process that died before the end of this function.
  if (status === 'frozen') return;
  try {
    await callAgent(path, 'guest-fsfreeze-freeze');
  } catch (error) {
    await thaw(folder).catch(() => {});
    throw error;
  }
}

export async function isFrozen(folder: MachineFolder): Promise<boolean> {
  return (await callAgent(folder.file('agent'), 'guest-fsfreeze-status')) === 'frozen';
}

/** Thaws a guest. */
export async function thaw(folder: MachineFolder): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await callAgent(folder.file('agent'), 'guest-fsfreeze-thaw');
      return await folder.removeFiles('frozen');
    } catch (error) {
      if (attempt === THAW_ATTEMPTS) throw error;
    }
  }
}
