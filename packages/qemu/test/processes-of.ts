import { readdirSync, readFileSync } from 'node:fs';

/** The numbers of QEMU's processes whose command line speaks of a folder. */
export function processesOf(folder: string): readonly number[] {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && /^[^\0]*qemu-system[^\0]*\0/.test(commandLine(pid)))
    .filter((pid) => commandLine(pid).includes(folder))
    .map(Number);
}
