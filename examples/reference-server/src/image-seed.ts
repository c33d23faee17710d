import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { ImageSeed } from '@apistrata/compute-engine';
import { StartError } from './start-error.js';

const QCOW2 = Buffer.from('QFI\xfb', 'latin1');

function formatOf(path: string): 'qcow2' | 'raw' {
  const file = openSync(path, 'r');
  try {
    const begin = Buffer.alloc(QCOW2.byteLength);
    readSync(file, begin, 0, begin.byteLength, 0);
    return begin.equals(QCOW2) ? 'qcow2' : 'raw';
  } finally {
    closeSync(file);
  }
}

/** An id that stays the same as long as the file does. */
function idOf(path: string, size: number, mtimeMs: number): string {
  const digits = createHash('sha256').update(`${path}\0${size}\0${mtimeMs}`).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

/** The image that `--image FILE` adds: named after the file, for everybody. Throws {@link StartError}. */
export function imageSeed(file: string): ImageSeed {
  try {
    const path = realpathSync(file);
    const { size, mtimeMs } = statSync(path);
    return {
      id: idOf(path, size, mtimeMs),
      name: basename(file, extname(file)),
      diskFormat: formatOf(path),
      content: () => createReadStream(path, { highWaterMark: 2 ** 20 }),
    };
  } catch (error) {
    throw new StartError(`--image ${file} cannot be read: ${(error as Error).message}`);
  }
}
