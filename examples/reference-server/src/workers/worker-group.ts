import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { FromWorker, Serving, ToWorker } from './messages.js';

/** A worker that died is started again after so long, each further one that did not live on after twice as long. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** One that has served for so long was no failure of the start. */
const STEADY_MS = 60_000;

/** A process that serves. */
export interface Member {
  readonly worker: Worker;
  /** Where it serves; undefined when it ended before. */
  readonly serving: Promise<Serving | undefined>;
  readonly ended: Promise<unknown>;
  servingSince: number | undefined;
  /** Its end is wished, or its failure is somebody else's to judge: no other one is started for it. */
  expendable: boolean;
}

/** Hears of messages and ends of workers. */
export interface GroupListener {
  message(worker: Worker, message: FromWorker): void;
  ended(worker: Worker): void;
}

/** Tells a worker something, unless it is gone already. */
export function tell({ worker }: Pick<Member, 'worker'>, message: ToWorker): void {
  // One that dies at this moment is heard of by its end.
  if (worker.isConnected()) worker.send(message, () => {});
}

/**
 * Processes that serve one address, so many of them at any time. Connections are handed to them in turn; one that died is
 * replaced, and all can be replaced one after the other without a request being refused.
 */
export class WorkerGroup {
  readonly #log: Logger;
  readonly #listener: GroupListener;
  readonly #members = new Set<Member>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #size: number;
  #failures = 0;
  #rolling: Promise<void> | undefined;
  #rollAgain = false;
  #ending = false;

  constructor(size: number, log: Logger, listener: GroupListener) {
    this.#size = size;
    this.#log = log;
    this.#listener = listener;
  }

  /** Those that serve now. */
  get serving(): readonly Member[] {
    return [...this.#members].filter(({ servingSince }) => servingSince !== undefined);
  }

  /**
   * Starts the first one, which makes what the others find there (tables, keys), then all others.
   *
   * @returns where they serve, or the code that the first one ended with, having said why
   */
  async start(): Promise<Serving | number> {
    const first = this.#fork(true);
    const serving = await first.serving;
    if (!serving) return first.worker.process.exitCode ?? 1;
    first.expendable = false;
    this.#fill();
    return serving;
  }

  /** Replaces all by new ones, one at a time, which read the configuration anew. Asked meanwhile, it begins once more. */
  roll(size: number): Promise<void> {
    this.#size = size;
    this.#rollAgain = this.#rolling !== undefined;
    this.#rolling ??= this.#roll().finally(() => {
      this.#rolling = undefined;
    });
    return this.#rolling;
  }

  /** Ends all of them in order; the code of the program, which is 0 when each of them ended well. */
  async end(): Promise<number> {
    this.#ending = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const members = [...this.#members];
    for (const member of members) {
      if (member.servingSince !== undefined) tell(member, { kind: 'end' });
      // It hears nothing yet, and has nothing to lose.
      else member.worker.process.kill();
    }
    await Promise.all(members.map(({ ended }) => ended));
    const served = members.filter(({ servingSince }) => servingSince !== undefined);
    return served.every(({ worker }) => worker.process.exitCode === 0) ? 0 : 1;
  }

  /** Ends all of them at once. */
  kill(): void {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
  }

  async #roll(): Promise<void> {
    do {
      this.#rollAgain = false;
      if (!(await this.#replaceAll())) return;
    } while (this.#rollAgain && !this.#ending);
  }

  /** False when a new one could not start: then the others stay what they are. */
  async #replaceAll(): Promise<boolean> {
    const before = [...this.#members];
    for (const [index, old] of before.entries()) {
      if (this.#ending) return false;
      if (index < this.#size && !(await this.#replacement())) return false;
      old.expendable = true;
      tell(old, { kind: 'retire' });
      await old.ended;
    }
    this.#fill();
    this.#log.info({ workers: this.#size }, 'all workers have been replaced');
    return true;
  }

  async #replacement(): Promise<boolean> {
    const fresh = this.#fork(true);
    if (await fresh.serving) {
      fresh.expendable = false;
      return true;
    }
    if (!this.#ending) this.#log.error('a new worker could not start: the others go on as they are');
    return false;
  }

  #fill(): void {
    const wanted = this.#size - [...this.#members].filter(({ expendable }) => !expendable).length - this.#timers.size;
    for (let missing = wanted; missing > 0; missing--) this.#fork(false);
  }

  #fork(expendable: boolean): Member {
    const worker = cluster.fork();
    const member: Member = {
      worker,
      expendable,
      servingSince: undefined,
      ended: once(worker, 'exit'),
      serving: new Promise((resolve) => {
        worker.on('message', (message: FromWorker) => {
          if (message.kind === 'serving') {
            member.servingSince = performance.now();
            this.#log.info({ worker: worker.process.pid }, 'a worker serves');
            resolve(message);
          } else this.#listener.message(worker, message);
        });
        worker.once('exit', () => resolve(undefined));
      }),
    };
    this.#members.add(member);
    worker.on('error', (error) => this.#log.error({ err: error, worker: worker.process.pid }, 'a worker fails'));
    worker.once('exit', (code, signal) => this.#gone(member, code, signal));
    return member;
  }

  #gone(member: Member, code: number | null, signal: string | null): void {
    this.#members.delete(member);
    this.#listener.ended(member.worker);
    if (this.#ending || member.expendable) return;
    const { servingSince, worker } = member;
    const steady = servingSince !== undefined && performance.now() - servingSince > STEADY_MS;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (steady ? 0 : this.#failures), LONGEST_PAUSE_MS);
    this.#failures = steady ? 1 : this.#failures + 1;
    this.#log.error({ worker: worker.process.pid, code, signal, pauseMs }, 'a worker ended: another one is started');
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fill();
    }, pauseMs);
    this.#timers.add(timer);
  }
}
