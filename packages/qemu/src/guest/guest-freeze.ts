import type { Server } from '@apistrata/compute-engine';
import { isTruthyString } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import { freeze, isFrozen, thaw } from './freeze.js';
import { hasAgent } from './guest-agent.js';

/** The delay before the next attempt to thaw a guest. */
const RETRY_MS = 10_000;
/** The maximum number of seconds for which a guest stays frozen before the copy of its disk starts. */
const BEGIN_SECONDS = 600;

/** A guest with frozen file systems, and the holders that keep it frozen. */
class FrozenGuest {
  /**
   * The holders that keep the guest frozen, each with a timeout, because a holder can die before it ends its freeze.
   */
  readonly holders = new Map<string, NodeJS.Timeout>();
  retry: NodeJS.Timeout | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  /** Runs the freezes and thaws of a guest sequentially. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#previous.then(work);
    this.#previous = result.catch(() => {});
    return result;
  }

  cancelTimers(): void {
    for (const timer of this.holders.values()) clearTimeout(timer);
    this.holders.clear();
    clearTimeout(this.retry);
  }
}

/** Freezes and thaws guest file systems. A guest is thawed when the last holder has ended its freeze. */
export class GuestFreeze {
  readonly #guests = new Map<MachineFolder, FrozenGuest>();
  readonly #ending = new Set<Promise<void>>();

  #guestIn(folder: MachineFolder): FrozenGuest {
    const cached = this.#guests.get(folder) ?? new FrozenGuest();
    this.#guests.set(folder, cached);
    return cached;
  }

  /** Freezes a guest's file systems on behalf of a holder. @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED` */
  async begin(folder: MachineFolder, holder: string, seconds: number): Promise<void> {
    const guest = this.#guestIn(folder);
    await guest.next(async () => {
      await freeze(folder);
      this.#endAfter(folder, guest, holder, seconds);
    });
  }

  /** Extends a holder's freeze. @throws QemuError `UNSUPPORTED` if the guest has been thawed */
  async keepFrozen(folder: MachineFolder, holder: string, seconds: number): Promise<void> {
    const guest = this.#guestIn(folder);
    await guest.next(async () => {
      if (!guest.holders.has(holder) || !(await isFrozen(folder)) || !guest.holders.has(holder))
        throw new QemuError('UNSUPPORTED', 'the guest has been thawed in the meantime');
      this.#endAfter(folder, guest, holder, seconds);
    });
  }

  #endAfter(folder: MachineFolder, guest: FrozenGuest, holder: string, seconds: number): void {
    clearTimeout(guest.holders.get(holder));
    guest.holders.set(
      holder,
      this.#schedule(() => this.end(folder, holder), seconds * 1000),
    );
  }

  #schedule(work: () => Promise<void>, ms: number): NodeJS.Timeout {
    const run = () => {
      const ending = work()
        .catch(() => {})
        .finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    };
    return setTimeout(run, ms).unref();
  }

  /** Ends a holder's freeze, and thaws the guest if no other holder remains. */
  async end(folder: MachineFolder, holder: string): Promise<void> {
    const guest = this.#guestIn(folder);
    clearTimeout(guest.holders.get(holder));
    guest.holders.delete(holder);
    await this.#finish(folder, guest);
  }

  async #finish(folder: MachineFolder, guest: FrozenGuest): Promise<void> {
    await guest.next(async () => {
      if (guest.holders.size > 0) return;
      clearTimeout(guest.retry);
      try {
        if (await folder.exists('frozen')) await thaw(folder);
        if (this.#guests.get(folder) === guest) this.#guests.delete(folder);
      } catch (error) {
        guest.retry = this.#schedule(() => this.#finish(folder, guest), RETRY_MS);
        throw error;
      }
    });
  }

  /**
   * Runs a function while the guest's file systems are frozen, so that a copy of the disk is consistent. If the guest
   * cannot be frozen, the function runs anyway, unless the image requires the freeze (`os_require_quiesce`).
   *
   * @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED` or `UNSUPPORTED` if a required freeze fails
   */
  async during<T>(server: Server, folder: MachineFolder, holder: string, body: () => Promise<T>): Promise<T> {
    const required = isTruthyString(optionsOfServer(server)('atRest'));
    if (!hasAgent(server)) {
      if (!required) return body();
      throw new QemuError('UNSUPPORTED', 'the image requires frozen file systems, but declares no guest agent');
    }
    try {
      await this.begin(folder, holder, BEGIN_SECONDS);
    } catch (error) {
      if (required) throw error;
      return body();
    }
    try {
      return await body();
    } finally {
      await this.end(folder, holder);
    }
  }

  /** Removes the freeze state of a machine that has ended. */
  forget(folder: MachineFolder): void {
    this.#guests.get(folder)?.cancelTimers();
    this.#guests.delete(folder);
  }

  /** Thaws guests that an earlier process left frozen. */
  async recover(folders: readonly MachineFolder[]): Promise<void> {
    await Promise.allSettled(folders.map((folder) => this.#finish(folder, this.#guestIn(folder))));
  }

  /** Thaws all frozen guests. Called when the host closes, because this process cannot thaw them later. */
  async leave(): Promise<void> {
    const folders = [...this.#guests.keys()];
    for (const guest of this.#guests.values()) guest.cancelTimers();
    await this.recover(folders);
    await Promise.allSettled(this.#ending);
    for (const folder of folders) this.forget(folder);
  }
}
