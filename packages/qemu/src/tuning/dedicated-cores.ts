import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';

/** Parses a list of core numbers, such as `0-2,5`. */
export function parseCoreList(text: string): readonly number[] {
  return text
    .trim()
    .split(',')
    .filter(Boolean)
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

/** Returns the processor cores on which this process may run. */
async function readAllowedCores(): Promise<readonly number[]> {
  const statusText = await readFile('/proc/self/status', 'utf8').catch(() => '');
  return parseCoreList(/^Cpus_allowed_list:\s*(\S+)/m.exec(statusText)?.[1] ?? '0');
}

async function readDedicatedCores(folder: MachineFolder): Promise<readonly number[]> {
  return parseCoreList(await readFile(folder.file('cores'), 'utf8').catch(() => ''));
}

/** Assigns dedicated processor cores to machines. The assignments are stored in the machine folders. */
export class DedicatedCores {
  readonly #folders: () => Promise<readonly MachineFolder[]>;
  readonly #readCores: () => Promise<readonly number[]>;
  /** The previous assignment. Assignments run sequentially, because concurrent ones would select the same cores. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(folders: () => Promise<readonly MachineFolder[]>, readCores = readAllowedCores) {
    this.#folders = folders;
    this.#readCores = readCores;
  }

  /**
   * Assigns dedicated cores to a machine, or returns its current ones if it already has the right number.
   *
   * @throws QemuError `UNSUPPORTED` if no core would remain for other machines
   */
  claim(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const assignment = this.#previous.then(() => this.#claim(folder, count));
    this.#previous = assignment.catch(() => {});
    return assignment;
  }

  async #claim(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const currentCores = await readDedicatedCores(folder);
    if (currentCores.length === count) return currentCores;
    const freeCores = await this.sharedCores(folder);
    if (freeCores.length <= count)
      throw new QemuError(
        'UNSUPPORTED',
        `this machine requests ${count} dedicated cores, but only ${Math.max(0, freeCores.length - 1)} are available`,
      );
    // Selects the last cores, because the host's own processes use the first ones most.
    const cores = freeCores.slice(-count);
    const path = folder.file('cores');
    await writeFile(`${path}.new`, cores.join(), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return cores;
  }

  /** Releases a machine's dedicated cores. Returns true if it had any. */
  async release(folder: MachineFolder): Promise<boolean> {
    const previous = (await readDedicatedCores(folder)).length > 0;
    if (previous) await rm(folder.file('cores'), { force: true });
    return previous;
  }

  /**
   * Returns the cores that are not dedicated to a machine.
   * @param except a machine whose dedicated cores count as free
   */
  async sharedCores(except?: MachineFolder): Promise<readonly number[]> {
    const otherFolders = (await this.#folders()).filter(({ path }) => path !== except?.path);
    const dedicatedCores = new Set((await Promise.all(otherFolders.map(readDedicatedCores))).flat());
    return (await this.#readCores()).filter((core) => !dedicatedCores.has(core));
  }

  /** Returns true if any machine on this host has dedicated cores. */
  async hasDedicatedCores(): Promise<boolean> {
    return (await Promise.all((await this.#folders()).map(readDedicatedCores))).some(({ length }) => length > 0);
  }
}
