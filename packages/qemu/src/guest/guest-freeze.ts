import type { Server } from '@apistrata/compute-engine';
import { isTruthyString } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import { freezeFileSystems, isFrozen, thawFileSystems } from './freeze.js';
import { callAgent, hasAgent } from './guest-agent.js';

/** The delay before the next attempt to thaw a guest. */
const THAW_RETRY_MS = 10_000;
/** The maximum number of seconds for which a guest stays frozen before the copy of its disk starts. */
const MAX_FREEZE_SECONDS = 600;

/**
 * The maximum duration of a trim. An agent executes one command at a time and cannot cancel a trim, so a freeze that
 * follows an unfinished trim fails.
 */
const TRIM_TIMEOUT_MS = 600_000;

/** A guest with frozen file systems, and the holders that keep it frozen. */
class FrozenGuest {
  /** The holders that keep the guest frozen. Each has a timeout, because a holder can die before it ends its freeze. */
  readonly holders = new Map<string, NodeJS.Timeout>();
  retry: NodeJS.Timeout | undefined;
  #previousTask: Promise<unknown> = Promise.resolve();

  /** Runs the freezes and thaws of a guest sequentially. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#previousTask.then(work);
    this.#previousTask = result.catch(() => {});
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

  #getGuest(folder: MachineFolder): FrozenGuest {
    const frozenGuest = this.#guests.get(folder) ?? new FrozenGuest();
    this.#guests.set(folder, frozenGuest);
    return frozenGuest;
  }

  /**
   * Makes a guest discard the unused blocks of its file systems, so that copies of its disks do not contain deleted
   * files. Does nothing if the guest has no agent, is frozen, or cannot do this.
   */
  async trim(server: Server, folder: MachineFolder, signal: AbortSignal): Promise<void> {
    if (!hasAgent(server)) return;
    const guest = this.#getGuest(folder);
    const runTrim = () => {
      const endSignal = AbortSignal.any([signal, AbortSignal.timeout(TRIM_TIMEOUT_MS)]);
      return callAgent(folder.file('agent'), 'guest-fstrim', {}, endSignal);
    };
    await guest.enqueue(async () => guest.holders.size > 0 || runTrim()).catch(() => {});
  }

  /** Freezes a guest's file systems on behalf of a holder. @throws QemuError `GUEST_TIMEOUT`, `GUEST_COMMAND_FAILED` */
  async begin(folder: MachineFolder, holder: string, seconds: number): Promise<void> {
    const guest = this.#getGuest(folder);
    await guest.enqueue(async () => {
      await freezeFileSystems(folder);
      this.#scheduleEnd(folder, guest, holder, seconds);
    });
  }

  /** Extends a holder's freeze. @throws QemuError `UNSUPPORTED` if the guest has been thawed */
  async keepFrozen(folder: MachineFolder, holder: string, seconds: number): Promise<void> {
    const guest = this.#getGuest(folder);
    await guest.enqueue(async () => {
      if (!guest.holders.has(holder) || !(await isFrozen(folder)) || !guest.holders.has(holder))
        throw new QemuError('UNSUPPORTED', "the guest's file systems have been thawed in the meantime");
      this.#scheduleEnd(folder, guest, holder, seconds);
    });
  }

  #scheduleEnd(folder: MachineFolder, guest: FrozenGuest, holder: string, seconds: number): void {
    clearTimeout(guest.holders.get(holder));
    guest.holders.set(
      holder,
      this.#schedule(() => this.end(folder, holder), seconds * 1000),
    );
  }

  #schedule(work: () => Promise<void>, ms: number): NodeJS.Timeout {
    const runTask = () => {
      const ending = work()
        .catch(() => {})
        .finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    };
    return setTimeout(runTask, ms).unref();
  }

  /** Ends a holder's freeze, and thaws the guest if no other holder remains. */
  async end(folder: MachineFolder, holder: string): Promise<void> {
    const guest = this.#getGuest(folder);
    clearTimeout(guest.holders.get(holder));
    guest.holders.delete(holder);
    await this.#thawIfReleased(folder, guest);
  }

  async #thawIfReleased(folder: MachineFolder, guest: FrozenGuest): Promise<void> {
    await guest.enqueue(async () => {
      if (guest.holders.size > 0) return;
      clearTimeout(guest.retry);
      try {
        if (await folder.exists('frozen')) await thawFileSystems(folder);
        if (this.#guests.get(folder) === guest) this.#guests.delete(folder);
      } catch (error) {
        guest.retry = this.#schedule(() => this.#thawIfReleased(folder, guest), THAW_RETRY_MS);
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
  async runFrozen<T>(server: Server, folder: MachineFolder, holder: string, body: () => Promise<T>): Promise<T> {
    const isRequired = isTruthyString(optionsOfServer(server)('atRest'));
    if (!hasAgent(server)) {
      if (!isRequired) return body();
      throw new QemuError('UNSUPPORTED', 'the image requires frozen file systems, but declares no guest agent');
    }
    try {
      await this.begin(folder, holder, MAX_FREEZE_SECONDS);
    } catch (error) {
      if (isRequired) throw error;
      return body();
    }
    try {
      return await body();
    } finally {
      await this.end(folder, holder);
    }
  }

  /** Removes the freeze state of a machine that has ended. */
  discardState(folder: MachineFolder): void {
    this.#guests.get(folder)?.cancelTimers();
    this.#guests.delete(folder);
  }

  /** Thaws guests that an earlier process left frozen. */
  async recover(folders: readonly MachineFolder[]): Promise<void> {
    await Promise.allSettled(folders.map((folder) => this.#thawIfReleased(folder, this.#getGuest(folder))));
  }

  /** Thaws all frozen guests. Called when the host closes, because this process cannot thaw them later. */
  async close(): Promise<void> {
    const folders = [...this.#guests.keys()];
    for (const guest of this.#guests.values()) guest.cancelTimers();
    await this.recover(folders);
    await Promise.allSettled(this.#ending);
    for (const folder of folders) this.discardState(folder);
  }
}
