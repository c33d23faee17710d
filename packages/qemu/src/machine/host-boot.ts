import { readFile, writeFile } from 'node:fs/promises';
import { ifMissing } from './if-missing.js';
import type { MachineFolder } from './machine-folder.js';

/** The file that contains a random id, which Linux generates at each boot. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';

/** Stores the boot ID of this computer in the folder of a machine that is about to start. */
export async function saveBootId(folder: MachineFolder): Promise<void> {
  await writeFile(folder.file('hostBoot'), await readFile(BOOT_ID_FILE, 'utf8'), { mode: 0o600 });
}

/** Returns true if this computer was rebooted after a machine was started; false if this is unknown. */
export async function hasHostRebooted(folder: MachineFolder): Promise<boolean> {
  const savedBootId = await ifMissing(readFile(folder.file('hostBoot'), 'utf8'), undefined);
  return savedBootId !== undefined && savedBootId !== (await readFile(BOOT_ID_FILE, 'utf8'));
}
