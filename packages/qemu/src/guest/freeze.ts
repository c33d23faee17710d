import { writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { callAgent } from './guest-agent.js';

/** The number of attempts to thaw a guest. One is not enough: a guest that stays frozen is worse than a failed copy. */
const THAW_ATTEMPTS = 3;

/**
 * Freezes a guest's file systems. A marker file makes the next process thaw the guest if this process dies.
 *
 * @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED`, after thawing the guest
 */
export async function freezeFileSystems(folder: MachineFolder): Promise<void> {
  const agentSocket = folder.file('agent');
  const status = await callAgent(agentSocket, 'guest-fsfreeze-status');
  await writeFile(folder.file('frozen'), '');
  // An earlier process froze the guest, and died before it returned from this function.
  if (status === 'frozen') return;
  try {
    await callAgent(agentSocket, 'guest-fsfreeze-freeze');
  } catch (error) {
    await thawFileSystems(folder).catch(() => {});
    throw error;
  }
}

export async function isFrozen(folder: MachineFolder): Promise<boolean> {
  return (await callAgent(folder.file('agent'), 'guest-fsfreeze-status')) === 'frozen';
}

/** Thaws a guest's file systems. */
export async function thawFileSystems(folder: MachineFolder): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await callAgent(folder.file('agent'), 'guest-fsfreeze-thaw');
      return await folder.removeFiles('frozen');
    } catch (error) {
      if (attempt === THAW_ATTEMPTS) throw error;
    }
  }
}
