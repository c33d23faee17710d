import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { QemuError } from '../qemu-error.js';

/** The full path of a program. Throws `QEMU_MISSING` with the cure. */
export function findProgram(name: string, cure: string): string {
  const folders = isAbsolute(name) ? [''] : (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (!found) throw new QemuError('QEMU_MISSING', `there is no ${name} on this machine: install ${cure}`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
