import { readFile, writeFile } from 'node:fs/promises';
import { ifMissing } from './if-missing.js';
import type { MachineFolder } from './machine-folder.js';

/** A random number that the kernel chooses when the computer boots. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Stores in which boot of this computer a machine was started. */
export async function noteHostBoot(folder: MachineFolder): Promise<void> {
  await writeFile(folder.file('hostBoot'), await readFile(BOOT_ID, 'utf8'), { mode: 0o600 });
}

/** Returns whether this computer has booted since a machine was started; false if that is unknown. */
export async function endedWithHost(folder: MachineFolder): Promise<boolean> {
  const started = await ifMissing(readFile(folder.file('hostBoot'), 'utf8'), undefined);
  return started !== undefined && started !== (await readFile(BOOT_ID, 'utf8'));
}
