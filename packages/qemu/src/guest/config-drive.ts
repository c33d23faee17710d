import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MachineFolder } from '../machine/machine-folder.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { createGuestFiles } from './guest-files.js';
import type { GuestMetadata } from './meta-data.js';

/** The file system label by which guests find the config drive. */
const DRIVE_LABEL = 'config-2';

/** The capacity of the config drive: that of a 2.88 MB floppy disk, minus the file system overhead. */
const MAX_CONTENT_BYTES = 2_700_000;

/** The offset of the boot code in the boot sector: the target of the jump instruction at the sector's start. */
const BOOT_CODE_OFFSET = 0x40;
/**
 * `int 0x18` makes the firmware boot from the next device (SeaBIOS: the next kind of device). An endless `hlt` loop
 * follows, in case the firmware returns.
 */
const NEXT_DEVICE_BOOT_CODE = Buffer.from([0xcd, 0x18, 0xf4, 0xeb, 0xfd]);

/**
 * Writes boot code that makes firmware continue with the next device if it tries to boot from the config drive. QEMU's
 * tools leave the boot code empty.
 */
async function writeBootCode(path: string): Promise<void> {
  const drive = await open(path, 'r+');
  try {
    await drive.write(NEXT_DEVICE_BOOT_CODE, 0, NEXT_DEVICE_BOOT_CODE.length, BOOT_CODE_OFFSET);
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
  const files = createGuestFiles(metadata);
  const totalBytes = [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (totalBytes > MAX_CONTENT_BYTES)
    throw new QemuError(
      'UNSUPPORTED',
      `the config drive holds at most ${MAX_CONTENT_BYTES} bytes, but its content has ${totalBytes}`,
    );
  const contentFolder = folder.file('configTree');
  const drive = folder.file(name);
  await rm(contentFolder, { recursive: true, force: true });
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(contentFolder, path)), { recursive: true });
      await writeFile(join(contentFolder, path), content);
    }
    const sourceOptions = JSON.stringify({ driver: 'vvfat', dir: contentFolder, floppy: true, label: DRIVE_LABEL });
    await runProgram(qemuImg, ['convert', '-O', 'raw', `json:${sourceOptions}`, `${drive}.new`], options);
    await writeBootCode(`${drive}.new`);
    await rename(`${drive}.new`, drive);
  } finally {
    await rm(contentFolder, { recursive: true, force: true });
  }
}
