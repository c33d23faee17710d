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
async function localCores(): Promise<readonly number[]> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  return parseCoreList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '0');
}

async function coresIn(folder: MachineFolder): Promise<readonly number[]> {
  return parseCoreList(await readFile(folder.file('cores'), 'utf8').catch(() => ''));
}

/** Assigns dedicated processor cores to machines. The assignments are stored in the machine folders. */
export class DedicatedCores {
  readonly #folders: () => Promise<readonly MachineFolder[]>;
  readonly #readCores: () => Promise<readonly number[]>;
  /** The previous assignment. Assignments run sequentially, because concurrent ones would select the same cores. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(folders: () => Promise<readonly MachineFolder[]>, readCores = localCores) {
    this.#folders = folders;
    this.#readCores = readCores;
  }

  /**
   * Assigns dedicated cores to a machine, or returns its current ones if their number is right already.
   *
   * @throws QemuError `UNSUPPORTED` if no core would remain for other machines
   */
  claim(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const claimed = this.#previous.then(() => this.#claim(folder, count));
    this.#previous = claimed.catch(() => {});
    return claimed;
  }

  async #claim(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const own = await coresIn(folder);
    if (own.length === count) return own;
    const free = await this.shared(folder);
    if (free.length <= count)
      throw new QemuError(
        'UNSUPPORTED',
        `this machine requests ${count} dedicated cores, but only ${Math.max(0, free.length - 1)} are available`,
      );
    // Selects the last cores, because the computer itself uses the first ones most.
    const cores = free.slice(-count);
    const path = folder.file('cores');
    await writeFile(`${path}.new`, cores.join(), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return cores;
  }

  /** Releases a machine's dedicated cores. Returns true if it had any. */
  async release(folder: MachineFolder): Promise<boolean> {
    const previous = (await coresIn(folder)).length > 0;
    if (previous) await rm(folder.file('cores'), { force: true });
    return previous;
  }

  /**
   * Returns the cores that are not dedicated to a machine.
   * @param except a machine whose dedicated cores count as free
   */
  async shared(except?: MachineFolder): Promise<readonly number[]> {
    const others = (await this.#folders()).filter(({ path }) => path !== except?.path);
    const usedCores = new Set((await Promise.all(others.map(coresIn))).flat());
    return (await this.#readCores()).filter((core) => !usedCores.has(core));
  }

  /** Returns true if any machine on this host has dedicated cores. */
  async inUse(): Promise<boolean> {
    return (await Promise.all((await this.#folders()).map(coresIn))).some(({ length }) => length > 0);
  }
}
