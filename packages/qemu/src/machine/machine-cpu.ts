import { readFile, writeFile } from 'node:fs/promises';
import { type GuestCpu, validateCpu } from '../cpu/guest-cpu.js';
import type { MachineFolder } from './machine-folder.js';

/** Stores the CPU of a starting machine, which keeps this CPU while it runs, even if the host's options change. */
export async function saveCpu(folder: MachineFolder, cpu: GuestCpu): Promise<void> {
  await writeFile(folder.file('cpu'), JSON.stringify(cpu));
}

/** Returns the CPU of a running machine; null if an earlier version of this package started the machine. */
export async function readCpu(folder: MachineFolder): Promise<GuestCpu | null> {
  const savedJson = await readFile(folder.file('cpu'), 'utf8').catch(() => null);
  return savedJson === null ? null : validateCpu(JSON.parse(savedJson));
}
