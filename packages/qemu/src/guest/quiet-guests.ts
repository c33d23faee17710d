import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { freeze, isFrozen, thaw } from './while-frozen.js';

/** When it is tried once more to let a guest go on. */
const RETRY_MS = 10_000;

/** Guests whose files are at rest for somebody who may die before letting them go on: each has a time when it does so by itself. */
export class QuietGuests {
  readonly #ends = new Map<MachineFolder, NodeJS.Timeout>();
  readonly #ending = new Set<Promise<void>>();

  /** @throws `GUEST_TIMEOUT`, `GUEST_REFUSED` */
  async begin(folder: MachineFolder, seconds: number): Promise<void> {
    await freeze(folder);
    this.#endIn(folder, seconds * 1000);
  }

  /** Has a guest stay so. @throws `NOT_POSSIBLE` where it has gone on */
  async keep(folder: MachineFolder, seconds: number): Promise<void> {
    if (!this.#ends.has(folder) || !(await isFrozen(folder)) || !this.#ends.has(folder))
      throw new QemuError('NOT_POSSIBLE', 'the guest has gone on meanwhile');
    this.#endIn(folder, seconds * 1000);
  }

  async end(folder: MachineFolder): Promise<void> {
    this.forget(folder);
    if (!(await folder.exists('frozen'))) return;
    await thaw(folder).catch((error) => {
      this.#endIn(folder, RETRY_MS);
      throw error;
    });
  }

  #endIn(folder: MachineFolder, ms: number): void {
    this.forget(folder);
    const end = () => {
      const ending = this.end(folder)
        .catch(() => {})
        .finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    };
    this.#ends.set(folder, setTimeout(end, ms).unref());
  }

  /** The machine has ended. */
  forget(folder: MachineFolder): void {
    clearTimeout(this.#ends.get(folder));
    this.#ends.delete(folder);
  }

  /** Lets guests go on that a former process has left so. */
  async recover(folders: readonly MachineFolder[]): Promise<void> {
    await Promise.allSettled(folders.map((folder) => this.end(folder)));
  }

  /** Lets all go on: nobody would do so later. */
  async leave(): Promise<void> {
    await this.recover([...this.#ends.keys()]);
    await Promise.allSettled(this.#ending);
    for (const folder of [...this.#ends.keys()]) this.forget(folder);
  }
}
