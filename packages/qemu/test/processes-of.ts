import { readdirSync, readFileSync } from 'node:fs';

/** Returns the ids of QEMU processes whose command line contains a folder. */
export function processesOf(folder: string, program = 'qemu-system'): readonly number[] {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && commandLine(pid).split('\0')[0]!.includes(program))
    .filter((pid) => commandLine(pid).includes(folder))
    .map(Number);
}
