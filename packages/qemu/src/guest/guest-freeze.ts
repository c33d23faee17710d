import type { Server } from '@apistrata/compute-engine';
import { isTruthyString } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import { freeze, isFrozen, thaw } from './freeze.js';
import { hasAgent } from './guest-agent.js';

/** Delay before another attempt to thaw a guest. */
const RETRY_MS = 10_000;
/** Maximum time until the copy of a disk starts. */
const BEGIN_SECONDS = 600;

/** The requests to keep a guest frozen. */
class FrozenGuest {
  /** The holders of the freeze, each with its own timeout, because a holder may die before it ends the freeze. */
  readonly pending = new Map<string, NodeJS.Timeout>();
  retry: NodeJS.Timeout | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  /** Serializes freezing and thawing of a guest. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#previous.then(work);
    this.#previous = result.catch(() => {});
    return result;
  }

  forget(): void {
    for (const timer of this.pending.values()) clearTimeout(timer);
    this.pending.clear();
    clearTimeout(this.retry);
  }
}

/** Freezes and thaws guests. A guest is thawed when its last holder has ended the freeze. */
export class GuestFreeze {
  readonly #guests = new Map<MachineFolder, FrozenGuest>();
  readonly #ending = new Set<Promise<void>>();

  #of(folder: MachineFolder): FrozenGuest {
    const cached = this.#guests.get(folder) ?? new FrozenGuest();
    this.#guests.set(folder, cached);
    return cached;
  }

  /** @throws `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED` */
  async begin(folder: MachineFolder, by: string, seconds: number): Promise<void> {
    const guest = this.#of(folder);
    await guest.next(async () => {
      await freeze(folder);
      this.#until(folder, guest, by, seconds);
    });
  }

  /** Extends the freeze of a holder. @throws QemuError `UNSUPPORTED` if the guest has been thawed */
  async keepFrozen(folder: MachineFolder, by: string, seconds: number): Promise<void> {
    const guest = this.#of(folder);
    await guest.next(async () => {
      if (!guest.pending.has(by) || !(await isFrozen(folder)) || !guest.pending.has(by))
        throw new QemuError('UNSUPPORTED', 'the guest has been thawed in the meantime');
      this.#until(folder, guest, by, seconds);
    });
  }

  #until(folder: MachineFolder, guest: FrozenGuest, by: string, seconds: number): void {
    clearTimeout(guest.pending.get(by));
    guest.pending.set(
      by,
      this.#later(() => this.end(folder, by), seconds * 1000),
    );
  }

  #later(work: () => Promise<void>, ms: number): NodeJS.Timeout {
    const run = () => {
      const ending = work()
        .catch(() => {})
        .finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    };
    return setTimeout(run, ms).unref();
  }

  /** Ends the freeze of a holder, and thaws the guest if it was the last one. */
  async end(folder: MachineFolder, by: string): Promise<void> {
    const guest = this.#of(folder);
    clearTimeout(guest.pending.get(by));
    guest.pending.delete(by);
    await this.#finish(folder, guest);
  }

  async #finish(folder: MachineFolder, guest: FrozenGuest): Promise<void> {
    await guest.next(async () => {
      if (guest.pending.size > 0) return;
      clearTimeout(guest.retry);
      try {
        if (await folder.exists('frozen')) await thaw(folder);
        if (this.#guests.get(folder) === guest) this.#guests.delete(folder);
      } catch (error) {
        guest.retry = this.#later(() => this.#finish(folder, guest), RETRY_MS);
        throw error;
      }
    });
  }

  /**
   * Runs a function while the file systems of the guest are frozen, so that a copy of the disk is consistent. If the guest cannot
   * be frozen, the function runs without a freeze, unless the image requires the freeze (`os_require_quiesce`).
   *
   * @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED` or `UNSUPPORTED` if a required freeze fails
   */
  async during<T>(server: Server, folder: MachineFolder, by: string, body: () => Promise<T>): Promise<T> {
    const required = isTruthyString(optionsOfServer(server)('atRest'));
    if (!hasAgent(server)) {
      if (!required) return body();
      throw new QemuError('UNSUPPORTED', 'the image requires frozen file systems, but declares no guest agent');
    }
    try {
      await this.begin(folder, by, BEGIN_SECONDS);
    } catch (error) {
      if (required) throw error;
      return body();
    }
    try {
      return await body();
    } finally {
      await this.end(folder, by);
    }
  }

  /** Removes the state of a machine that has ended. */
  forget(folder: MachineFolder): void {
    this.#guests.get(folder)?.forget();
    this.#guests.delete(folder);
  }

  /** Thaws guests that an earlier process has left frozen. */
  async recover(folders: readonly MachineFolder[]): Promise<void> {
    await Promise.allSettled(folders.map((folder) => this.#finish(folder, this.#of(folder))));
  }

  /** Thaws all guests, because no later code of this process would. */
  async leave(): Promise<void> {
    const folders = [...this.#guests.keys()];
    for (const guest of this.#guests.values()) guest.forget();
    await this.recover(folders);
    await Promise.allSettled(this.#ending);
    for (const folder of folders) this.forget(folder);
  }
}
