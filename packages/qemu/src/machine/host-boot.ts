import { readFile, writeFile } from 'node:fs/promises';
import { ifMissing } from './if-missing.js';
import type { MachineFolder } from './machine-folder.js';

/** The file that contains a random id, which Linux generates at each boot. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Stores the boot ID of this computer in the folder of a machine that is about to start. */
export async function saveHostBoot(folder: MachineFolder): Promise<void> {
  await writeFile(folder.file('hostBoot'), await readFile(BOOT_ID, 'utf8'), { mode: 0o600 });
}

/** Returns true if this computer was rebooted after a machine was started; false if this is unknown. */
export async function endedWithHost(folder: MachineFolder): Promise<boolean> {
  const started = await ifMissing(readFile(folder.file('hostBoot'), 'utf8'), undefined);
  return started !== undefined && started !== (await readFile(BOOT_ID, 'utf8'));
}
