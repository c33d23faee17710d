import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';

/** `0-2,5` as numbers. */
export function coreList(text: string): readonly number[] {
  return text
    .trim()
    .split(',')
    .filter(Boolean)
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

/** The cores that this process may run on. */
async function coresHere(): Promise<readonly number[]> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  return coreList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '0');
}

async function coresIn(folder: MachineFolder): Promise<readonly number[]> {
  return coreList(await readFile(folder.file('cores'), 'utf8').catch(() => ''));
}

/** Which machines have which cores of this computer to themselves: it is kept with them, so it holds as long as they do. */
export class DedicatedCores {
  readonly #folders: () => Promise<readonly MachineFolder[]>;
  readonly #here: () => Promise<readonly number[]>;
  /** One after the other: two that choose at once would choose the same. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(folders: () => Promise<readonly MachineFolder[]>, here = coresHere) {
    this.#folders = folders;
    this.#here = here;
  }

  /**
   * Gives a machine so many cores to itself; those that it has already, where it has as many.
   * @throws `NOT_POSSIBLE` where none would be left to other machines
   */
  take(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const taken = this.#turn.then(() => this.#take(folder, count));
    this.#turn = taken.catch(() => {});
    return taken;
  }

  async #take(folder: MachineFolder, count: number): Promise<readonly number[]> {
    const own = await coresIn(folder);
    if (own.length === count) return own;
    const free = await this.shared(folder);
    if (free.length <= count)
      throw new QemuError(
        'NOT_POSSIBLE',
        `${count} cores are asked for by this machine alone, and ${Math.max(0, free.length - 1)} are left`,
      );
    // The last ones: the computer itself is busy on the first.
    const cores = free.slice(-count);
    const path = folder.file('cores');
    await writeFile(`${path}.new`, cores.join(), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return cores;
  }

  /** Gives them back. Whether there were any. */
  async giveBack(folder: MachineFolder): Promise<boolean> {
    const had = (await coresIn(folder)).length > 0;
    if (had) await rm(folder.file('cores'), { force: true });
    return had;
  }

  /** The cores that no machine has to itself, but for one machine. */
  async shared(but?: MachineFolder): Promise<readonly number[]> {
    const others = (await this.#folders()).filter(({ path }) => path !== but?.path);
    const taken = new Set((await Promise.all(others.map(coresIn))).flat());
    return (await this.#here()).filter((core) => !taken.has(core));
  }

  /** Whether any machine here has cores to itself. */
  async inUse(): Promise<boolean> {
    return (await Promise.all((await this.#folders()).map(coresIn))).some(({ length }) => length > 0);
  }
}
