import type { Server } from '@apistrata/compute-engine';
import { QemuError } from '../qemu-error.js';
import { isYes, optionsOfServer } from '../tuning/machine-options.js';
import { askAgent, hasAgent } from './guest-agent.js';

/** How often an agent is asked to let a guest go on: one that stays frozen is worse than any copy. */
const THAW_ATTEMPTS = 3;

async function freeze(path: string): Promise<void> {
  // Frozen it is already where a process has died between this and the end of it.
  if ((await askAgent(path, 'guest-fsfreeze-status')) === 'frozen') return;
  await askAgent(path, 'guest-fsfreeze-freeze');
}

async function thaw(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await askAgent(path, 'guest-fsfreeze-thaw');
      return;
    } catch (error) {
      if (attempt === THAW_ATTEMPTS) throw error;
    }
  }
}

/**
 * Does something while nothing of the guest's files is on its way to the disk: for a copy that finds them as after a
 * clean end. Where the guest cannot do that it is done all the same, unless the image requires it (`os_require_quiesce`).
 *
 * @param path the socket of the machine's channel to the agent
 * @throws `GUEST_TIMEOUT`, `GUEST_REFUSED`, `NOT_POSSIBLE` where it is required and cannot be
 */
export async function whileFrozen<T>(server: Server, path: string, body: () => Promise<T>): Promise<T> {
  const required = isYes(optionsOfServer(server)('atRest'));
  if (!hasAgent(server)) {
    if (!required) return body();
    throw new QemuError(
      'NOT_POSSIBLE',
      'the image requires that files are at rest, and says of no agent that could do it',
    );
  }
  try {
    await freeze(path);
  } catch (error) {
    if (required) throw error;
    return body();
  }
  try {
    return await body();
  } finally {
    await thaw(path);
  }
}
