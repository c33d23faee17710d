import { writeFile } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import { isYes } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import { askAgent, hasAgent } from './guest-agent.js';

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

/**
 * Does something while nothing of the guest's files is on its way to the disk: for a copy that finds them as after a
 * clean end. Where the guest cannot do that it is done all the same, unless the image requires it (`os_require_quiesce`).
 *
 * @throws `GUEST_TIMEOUT`, `GUEST_REFUSED`, `NOT_POSSIBLE` where it is required and cannot be
 */
export async function whileFrozen<T>(server: Server, folder: MachineFolder, body: () => Promise<T>): Promise<T> {
  const required = isYes(optionsOfServer(server)('atRest'));
  if (!hasAgent(server)) {
    if (!required) return body();
    throw new QemuError(
      'NOT_POSSIBLE',
      'the image requires that files are at rest, and says of no agent that could do it',
    );
  }
  try {
    await freeze(folder);
  } catch (error) {
    if (required) throw error;
    return body();
  }
  try {
    return await body();
  } finally {
    await thaw(folder);
  }
}
