import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MachineFolder } from '../machine/machine-folder.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { guestFiles } from './guest-files.js';
import type { GuestMetadata } from './meta-data.js';

/** The file system label by which guests find the config drive. */
const LABEL = 'config-2';

/** The capacity of the config drive: a 2.88 MB floppy disk, minus the file system overhead. */
const MAX_BYTES = 2_700_000;

/** The offset of the boot code in the boot sector: the target of the jump instruction at the sector's start. */
const BOOT_CODE_AT = 0x40;
/**
 * `int 0x18`, which makes firmware boot from the next device, then an endless `hlt` loop, in case the firmware returns.
 */
const HAND_OVER = Buffer.from([0xcd, 0x18, 0xf4, 0xeb, 0xfd]);

/**
 * Writes boot code that continues with the next device, for firmware that tries to boot from the config drive. QEMU's
 * tools leave the boot code empty.
 */
async function handOverBoot(path: string): Promise<void> {
  const drive = await open(path, 'r+');
  try {
    await drive.write(HAND_OVER, 0, HAND_OVER.length, BOOT_CODE_AT);
  } finally {
    await drive.close();
  }
}

/**
 * Writes a machine's config drive, a small FAT disk that QEMU's own tools create.
 *
 * @throws QemuError `UNSUPPORTED` if the content exceeds the drive's capacity
 */
export async function writeConfigDrive(
  metadata: GuestMetadata,
  folder: MachineFolder,
  name: 'configDrive' | 'rescueConfigDrive',
  qemuImg: string,
  options: ProgramOptions,
): Promise<void> {
  const files = guestFiles(metadata);
  const bytes = [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytes > MAX_BYTES)
    throw new QemuError(
      'UNSUPPORTED',
      `the config drive holds at most ${MAX_BYTES} bytes, but its content has ${bytes}`,
    );
  const tree = folder.file('configTree');
  const drive = folder.file(name);
  await rm(tree, { recursive: true, force: true });
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), content);
    }
    const source = JSON.stringify({ driver: 'vvfat', dir: tree, floppy: true, label: LABEL });
    await runProgram(qemuImg, ['convert', '-O', 'raw', `json:${source}`, `${drive}.new`], options);
    await handOverBoot(`${drive}.new`);
    await rename(`${drive}.new`, drive);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}
