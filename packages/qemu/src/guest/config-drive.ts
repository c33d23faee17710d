import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MachineFolder } from '../machine/machine-folder.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { guestFiles } from './guest-files.js';
import type { GuestStory } from './meta-data.js';

/** What guests look for. */
const LABEL = 'config-2';

/** The drive has the size of a large floppy disk; the file system takes some of it. */
const MAX_BYTES = 2_700_000;

/** Where the boot sector of the file system has its code: the jump at its beginning leads there. */
const BOOT_CODE_AT = 0x40;
/** `int 0x18`, by which a boot sector hands over to the next device; then `hlt` for ever, for firmware that comes back. */
const HAND_OVER = Buffer.from([0xcd, 0x18, 0xf4, 0xeb, 0xfd]);

/** Has firmware that takes the drive for a system go on with the next device: QEMU's tools leave the code of the sector empty. */
async function handOverBoot(path: string): Promise<void> {
  const drive = await open(path, 'r+');
  try {
    await drive.write(HAND_OVER, 0, HAND_OVER.length, BOOT_CODE_AT);
  } finally {
    await drive.close();
  }
}

/**
 * Writes a machine's config drive: a small FAT disk, made by QEMU's own tools.
 * @throws `NOT_POSSIBLE` when what the guest is to be told does not fit
 */
export async function writeConfigDrive(
  story: GuestStory,
  folder: MachineFolder,
  name: 'configDrive' | 'rescueConfigDrive',
  qemuImg: string,
  options: ProgramOptions,
): Promise<void> {
  const files = guestFiles(story);
  const bytes = [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytes > MAX_BYTES)
    throw new QemuError('NOT_POSSIBLE', `the config drive holds ${MAX_BYTES} bytes, and it would have ${bytes}`);
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
