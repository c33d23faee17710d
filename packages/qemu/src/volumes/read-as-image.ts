import { open } from 'node:fs/promises';
import type { DiskPrograms } from '../machine/prepare-disks.js';
import { runProgram } from '../programs/run-program.js';
import { checkSpace } from './check-space.js';
import type { VolumeContent } from './volume-content.js';

/** Names of disk formats that QEMU calls differently. */
const QEMU_FORMATS: Readonly<Record<string, string>> = { vhd: 'vpc', ploop: 'parallels' };

interface ImageOptions {
  /** The disk format of the image, as the image service calls it. */
  readonly format: string;
  /** A new folder for the image. */
  readonly copy: VolumeContent;
  readonly tools: DiskPrograms;
  readonly signal: AbortSignal;
}

/**
 * Converts a disk that no process has open to an image, and returns the bytes of the image, whose file is already
 * deleted.
 *
 * @param disk the arguments of `blockdev-add` that open the disk
 * @throws QemuError `DISK_FULL` if the host has no space for the image
 */
export async function readAsImage(
  disk: Readonly<Record<string, unknown>>,
  { format, copy, tools: { qemuImg, run }, signal }: ImageOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const source = `json:${JSON.stringify(disk)}`;
  const runQemuImg = (...args: readonly string[]) => runProgram(qemuImg, args, { ...run, signal });
  const measured = JSON.parse(await runQemuImg('measure', '--output=json', '-O', 'qcow2', source));
  await copy.createFolder();
  try {
    await checkSpace(copy.path, measured.required);
    await runQemuImg('convert', '-O', QEMU_FORMATS[format] ?? format, source, copy.file('image'));
    return (await open(copy.file('image'))).createReadStream({ highWaterMark: 2 ** 20 });
  } finally {
    await copy.remove();
  }
}
