import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { REPLACEMENT_WAIT_MS } from '../shutdown-times.js';
import type { PrimaryMessage, WorkerAddress, WorkerMessage } from './messages.js';

/** The delay before a worker that died is replaced. The delay doubles each time another worker dies early. */
const MIN_RESTART_DELAY_MS = 250;
const MAX_RESTART_DELAY_MS = 30_000;
/** If a worker dies after it has served for this long, the delay starts again from its minimum. */
const STABLE_RUN_MS = 60_000;

/** A worker process. */
export interface GroupMember {
  readonly worker: Worker;
  /** Resolves with the worker's address, or with undefined if the worker exits before it serves. */
  readonly serving: Promise<WorkerAddress | undefined>;
  readonly ended: Promise<unknown>;
  servingSince: number | undefined;
  /**
   * Whether the worker is not replaced when it exits, because its exit was requested or because the code that started
   * it handles the exit.
   */
  expendable: boolean;
}

/** Receives the messages of workers and is notified of their exits. */
export interface GroupListener {
  message(worker: Worker, message: WorkerMessage): void;
  ended(worker: Worker): void;
}

/** Sends a message to a worker, unless it has ended. */
export function sendToWorker({ worker }: Pick<GroupMember, 'worker'>, message: PrimaryMessage): void {
  // Errors are ignored, because a worker that cannot receive the message has died, which the exit event reports.
  if (worker.isConnected()) worker.send(message, () => {});
}

/**
 * A fixed number of processes that serve one address. Connections are distributed round-robin; a process that died is
 * replaced, and all can be replaced one at a time without rejecting requests.
 */
export class WorkerGroup {
  readonly #log: Logger;
  readonly #listener: GroupListener;
  readonly #members = new Set<GroupMember>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #size: number;
  #failures = 0;
  #replacement: Promise<void> | undefined;
  #replaceAgain = false;
  #ending = false;

  constructor(size: number, log: Logger, listener: GroupListener) {
    this.#size = size;
    this.#log = log;
    this.#listener = listener;
  }

  /** The workers that currently serve requests. */
  get serving(): readonly GroupMember[] {
    return [...this.#members].filter(({ servingSince }) => servingSince !== undefined);
  }

  /**
   * Starts the first worker, which creates what the others need (tables, keys), and then all others.
   *
   * @returns the address, or the exit code of the first worker, which has logged the reason
   */
  async start(): Promise<WorkerAddress | number> {
    const firstMember = this.#fork(true);
    const serving = await firstMember.serving;
    if (!serving) return firstMember.worker.process.exitCode ?? 1;
    firstMember.expendable = false;
    this.#startMissingWorkers();
    return serving;
  }

  /**
   * Replaces all workers, one at a time, with new ones, which read the configuration again. If a replacement is in
   * progress, another one starts when it is complete.
   */
  replaceWorkers(size: number): Promise<void> {
    this.#size = size;
    this.#replaceAgain = this.#replacement !== undefined;
    this.#replacement ??= this.#replaceWorkers().finally(() => {
      this.#replacement = undefined;
    });
    return this.#replacement;
  }

  /** Ends all workers gracefully; returns the exit code of the program, which is 0 if all of them exited with 0. */
  async end(): Promise<number> {
    this.#ending = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const members = [...this.#members];
    for (const member of members) {
      if (member.servingSince !== undefined) sendToWorker(member, { kind: 'end' });
      // A worker that does not serve yet receives no messages and has no work to lose.
      else member.worker.process.kill();
    }
    await Promise.all(members.map(({ ended }) => ended));
    const servedMembers = members.filter(({ servingSince }) => servingSince !== undefined);
    return servedMembers.every(({ worker }) => worker.process.exitCode === 0) ? 0 : 1;
  }

  /** Kills all workers. */
  kill(): void {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
  }

  async #replaceWorkers(): Promise<void> {
    do {
      this.#replaceAgain = false;
      if (!(await this.#replaceAll())) return;
    } while (this.#replaceAgain && !this.#ending);
  }

  /** Replaces all workers. Returns false if a new worker could not start; the other workers are then not replaced. */
  async #replaceAll(): Promise<boolean> {
    const previousMembers = [...this.#members];
    for (const [index, old] of previousMembers.entries()) {
      if (this.#ending) return false;
      if (index < this.#size && !(await this.#startReplacement())) return false;
      old.expendable = true;
      sendToWorker(old, { kind: 'retire' });
      // Waiting keeps the number of processes with database connections small. A limit on the wait prevents a long
      // request from delaying the replacement of the other workers.
      const waitController = new AbortController();
      const timeout = pause(REPLACEMENT_WAIT_MS, undefined, { signal: waitController.signal }).catch(() => {});
      await Promise.race([old.ended, timeout]);
      waitController.abort();
    }
    await Promise.all(previousMembers.map(({ ended }) => ended));
    this.#startMissingWorkers();
    this.#log.info({ workers: this.#size }, 'all workers have been replaced');
    return true;
  }

  async #startReplacement(): Promise<boolean> {
    const newMember = this.#fork(true);
    if (await newMember.serving) {
      newMember.expendable = false;
      return true;
    }
    if (!this.#ending) this.#log.error('a new worker could not start: the remaining workers are not replaced');
    return false;
  }

  #startMissingWorkers(): void {
    const missingCount =
      this.#size -
      [...this.#members].filter(({ expendable: isExpendable }) => !isExpendable).length -
      this.#timers.size;
    for (let missing = missingCount; missing > 0; missing--) this.#fork(false);
  }

  #fork(isExpendable: boolean): GroupMember {
    const worker = cluster.fork();
    const member: GroupMember = {
      worker,
      expendable: isExpendable,
      servingSince: undefined,
      ended: once(worker, 'exit'),
      serving: new Promise((resolve) => {
        worker.on('message', (message: WorkerMessage) => {
          if (message.kind === 'serving') {
            member.servingSince = performance.now();
            this.#log.info({ worker: worker.process.pid }, 'a worker accepts connections');
            resolve(message);
          } else this.#listener.message(worker, message);
        });
        worker.once('exit', () => resolve(undefined));
      }),
    };
    this.#members.add(member);
    worker.on('error', (error) => this.#log.error({ err: error, worker: worker.process.pid }, 'a worker failed'));
    worker.once('exit', (code, signal) => this.#handleExit(member, code, signal));
    return member;
  }

  #handleExit(member: GroupMember, code: number | null, signal: string | null): void {
    this.#members.delete(member);
    this.#listener.ended(member.worker);
    if (this.#ending || member.expendable) return;
    const { servingSince, worker } = member;
    const isStable = servingSince !== undefined && performance.now() - servingSince > STABLE_RUN_MS;
    const pauseMs = Math.min(MIN_RESTART_DELAY_MS * 2 ** (isStable ? 0 : this.#failures), MAX_RESTART_DELAY_MS);
    this.#failures = isStable ? 1 : this.#failures + 1;
    this.#log.error({ worker: worker.process.pid, code, signal, pauseMs }, 'a worker exited: starting another one');
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#startMissingWorkers();
    }, pauseMs);
    this.#timers.add(timer);
  }
}
