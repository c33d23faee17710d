import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { QemuError } from '../qemu-error.js';

/** Returns the full path of a program; undefined if the program is not installed. */
export function findInstalledProgram(name: string): string | undefined {
  const folders = isAbsolute(name) ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Returns the full path of a program. @throws QemuError `QEMU_MISSING` if the program is not installed */
export function findProgram(name: string, fix: string): string {
  const programPath = findInstalledProgram(name);
  if (!programPath) throw new QemuError('QEMU_MISSING', `${name} is not installed: install ${fix}`);
  return programPath;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
