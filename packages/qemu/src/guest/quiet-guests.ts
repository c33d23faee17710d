import type { Server } from '@apistrata/compute-engine';
import { isYes } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';
import { freeze, isFrozen, thaw } from './freeze.js';
import { hasAgent } from './guest-agent.js';

/** When it is tried once more to let a guest go on. */
const RETRY_MS = 10_000;
/** How long a copy of a disk may take to begin. */
const BEGIN_SECONDS = 600;

/** A guest whose files are at rest, or that is to go on. */
class QuietGuest {
  /** Who wants it so, each for a time of its own: who wants it may die before letting it go on. */
  readonly wanted = new Map<string, NodeJS.Timeout>();
  retry: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** One after the other: nobody freezes a guest while somebody else lets it go on. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  forget(): void {
    for (const timer of this.wanted.values()) clearTimeout(timer);
    this.wanted.clear();
    clearTimeout(this.retry);
  }
}

/** Guests whose files are at rest. One goes on when nobody wants it to rest any more, whoever has begun. */
export class QuietGuests {
  readonly #guests = new Map<MachineFolder, QuietGuest>();
  readonly #ending = new Set<Promise<void>>();

  #of(folder: MachineFolder): QuietGuest {
    const known = this.#guests.get(folder) ?? new QuietGuest();
    this.#guests.set(folder, known);
    return known;
  }

  /** @throws `GUEST_TIMEOUT`, `GUEST_REFUSED` */
  async begin(folder: MachineFolder, by: string, seconds: number): Promise<void> {
    const guest = this.#of(folder);
    await guest.next(async () => {
      await freeze(folder);
      this.#until(folder, guest, by, seconds);
    });
  }

  /** Has a guest stay so. @throws `NOT_POSSIBLE` where it has gone on */
  async keep(folder: MachineFolder, by: string, seconds: number): Promise<void> {
    const guest = this.#of(folder);
    await guest.next(async () => {
      if (!guest.wanted.has(by) || !(await isFrozen(folder)) || !guest.wanted.has(by))
        throw new QemuError('NOT_POSSIBLE', 'the guest has gone on meanwhile');
      this.#until(folder, guest, by, seconds);
    });
  }

  #until(folder: MachineFolder, guest: QuietGuest, by: string, seconds: number): void {
    clearTimeout(guest.wanted.get(by));
    guest.wanted.set(
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

  /** Lets a guest go on, unless somebody else wants it to rest. */
  async end(folder: MachineFolder, by: string): Promise<void> {
    const guest = this.#of(folder);
    clearTimeout(guest.wanted.get(by));
    guest.wanted.delete(by);
    await this.#settle(folder, guest);
  }

  async #settle(folder: MachineFolder, guest: QuietGuest): Promise<void> {
    await guest.next(async () => {
      if (guest.wanted.size > 0) return;
      clearTimeout(guest.retry);
      try {
        if (await folder.exists('frozen')) await thaw(folder);
        if (this.#guests.get(folder) === guest) this.#guests.delete(folder);
      } catch (error) {
        guest.retry = this.#later(() => this.#settle(folder, guest), RETRY_MS);
        throw error;
      }
    });
  }

  /**
   * Does something while nothing of the guest's files is on its way to the disk: for a copy that finds them as after a
   * clean end. Where the guest cannot do that it is done all the same, unless the image requires it (`os_require_quiesce`).
   *
   * @throws `GUEST_TIMEOUT`, `GUEST_REFUSED`, `NOT_POSSIBLE` where it is required and cannot be
   */
  async during<T>(server: Server, folder: MachineFolder, by: string, body: () => Promise<T>): Promise<T> {
    const required = isYes(optionsOfServer(server)('atRest'));
    if (!hasAgent(server)) {
      if (!required) return body();
      throw new QemuError(
        'NOT_POSSIBLE',
        'the image requires that files are at rest, and says of no agent that could do it',
      );
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

  /** The machine has ended. */
  forget(folder: MachineFolder): void {
    this.#guests.get(folder)?.forget();
    this.#guests.delete(folder);
  }

  /** Lets guests go on that a former process has left so. */
  async recover(folders: readonly MachineFolder[]): Promise<void> {
    await Promise.allSettled(folders.map((folder) => this.#settle(folder, this.#of(folder))));
  }

  /** Lets all go on: nobody would do so later. */
  async leave(): Promise<void> {
    const folders = [...this.#guests.keys()];
    for (const guest of this.#guests.values()) guest.forget();
    await this.recover(folders);
    await Promise.allSettled(this.#ending);
    for (const folder of folders) this.forget(folder);
  }
}
