import type { Catalogs } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import { isOutage } from '@apistrata/record-store/errors';
import type { MachineJob, Machines } from '../drivers/machines.js';
import { EngineError } from '../errors/engine-error.js';
import { attemptOf } from '../jobs/attempt-of.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import type { HostOrder } from './host-orders.js';
import { failedWith, type HostAnswer, type HostQuestion } from './host-question.js';
import type { Leftovers } from './leftovers.js';

/** Why work on a machine has ended before its time. */
export class HostOrderEnded extends EngineError<'HOST_ORDER_ENDED'> {
  constructor(message: string) {
    super('HOST_ORDER_ENDED', message);
  }
}

/** A later job, or a later attempt of the same one, has the server: the request has no response, and is removed. */
export class HostOrderSuperseded extends HostOrderEnded {
  constructor() {
    super('another job, or a later attempt of this one, has the server now');
  }
}

export interface HostWorkOptions {
  readonly name: string;
  readonly store: Store;
  readonly machines: Machines;
  readonly images: Pick<Catalogs['images'], 'upload'>;
  readonly leftovers: Leftovers;
}

interface Running {
  readonly ending: AbortController;
  readonly done: Promise<unknown>;
}

const RETRY_MS = 1_000;

type MachineQuestion = Extract<HostQuestion, { readonly kind: 'perform' | 'saveSnapshot' }>;

/** Whether a job may still have something done to its server. */
function holds(server: Server, job: MachineJob | undefined): boolean {
  if (!job || job.beside) return !server.deleted && (!job || server.taskState !== 'deleting');
  return server.jobId === job.id && (job.attempt === undefined || job.attempt === attemptOf(server));
}

/** A pause that ends with the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Does what a host is asked. Of the jobs that own a server one at a time has something done to it, the newest. */
export class HostWork {
  readonly #options: HostWorkOptions;
  /** By server: the work of the job that owns it. */
  readonly #owning = new Map<string, Running>();
  /** By server: work beside that. */
  readonly #beside = new Map<string, Set<AbortController>>();

  constructor(options: HostWorkOptions) {
    this.#options = options;
  }

  /** Answers a question; rejects only when `stopping` has ended, or with {@link HostOrderSuperseded}. */
  async answer(order: HostOrder, stopping: AbortSignal): Promise<HostAnswer> {
    for (;;) {
      try {
        return { value: (await this.#do(order, stopping)) ?? null };
      } catch (error) {
        if (stopping.aborted) throw stopping.reason;
        if (error instanceof HostOrderSuperseded) throw error;
        // It says nothing of the machine.
        if (!isOutage(error)) return failedWith(error);
        await pause(RETRY_MS, stopping);
        stopping.throwIfAborted();
      }
    }
  }

  async #do({ question, serverId }: HostOrder, stopping: AbortSignal): Promise<unknown> {
    const { name, machines, leftovers } = this.#options;
    switch (question.kind) {
      case 'perform':
      case 'saveSnapshot':
        return this.#work(question, serverId, stopping);
      case 'obstacle':
        return machines.obstacle(question.verb, await this.#server(serverId));
      case 'consoleOutput':
        return machines.consoleOutput(await this.#server(serverId));
      case 'diagnostics':
        return machines.diagnostics(await this.#server(serverId));
      case 'moveProgress':
        return machines.moveProgress(await this.#server(serverId));
      case 'console':
        return machines.console(await this.#server(serverId), question.type);
      case 'tidy':
        return serverId === null ? undefined : leftovers.tidy(serverId, stopping);
      case 'hostUptime':
        return machines.hostUptime(name);
      case 'hostPower':
        return machines.hostPower(name, question.action);
      case 'hostMaintenance':
        return machines.hostMaintenance(name, question.on);
      case 'cacheImages':
        return machines.cacheImages(name, question.imageIds);
    }
  }

  async #server(id: string | null): Promise<Server> {
    const server = id === null ? undefined : await tables.servers.get(this.#options.store, id);
    if (!server) throw new Error(`there is no server ${id}`);
    return server;
  }

  async #work(question: MachineQuestion, serverId: string | null, stopping: AbortSignal): Promise<void> {
    const server = await this.#server(serverId);
    const { id } = server;
    const ending = new AbortController();
    const signal = AbortSignal.any([stopping, ending.signal]);
    const owns = question.job !== undefined && !question.job.beside;
    if (!owns) return this.#workBeside(question, id, ending, signal);
    // What lost the server itself must not end the work of the job that has it.
    if (!holds(server, question.job)) throw new HostOrderSuperseded();
    const before = this.#owning.get(id);
    const done = this.#after(before, question, id, signal);
    const running = { ending, done };
    this.#owning.set(id, running);
    try {
      await done;
    } catch (error) {
      // A driver may throw anything when it is told to end.
      throw ending.signal.aborted ? ending.signal.reason : error;
    } finally {
      if (this.#owning.get(id) === running) this.#owning.delete(id);
    }
  }

  /** The job before has lost the server, or has ended already as far as it can tell: it is waited for. */
  async #after(before: Running | undefined, question: MachineQuestion, id: string, signal: AbortSignal): Promise<void> {
    if (before) {
      before.ending.abort(new HostOrderSuperseded());
      await before.done.catch(() => {});
    }
    if (question.kind === 'perform' && question.work.verb === 'destroy')
      for (const ending of this.#beside.get(id) ?? []) ending.abort(new HostOrderEnded('the server is being deleted'));
    await this.#perform(question, id, signal);
  }

  async #workBeside(
    question: MachineQuestion,
    id: string,
    ending: AbortController,
    signal: AbortSignal,
  ): Promise<void> {
    const others = this.#beside.get(id) ?? new Set();
    this.#beside.set(id, others.add(ending));
    try {
      await this.#perform(question, id, signal);
    } finally {
      others.delete(ending);
      if (others.size === 0) this.#beside.delete(id);
    }
  }

  /** The fence: what a job has asked for that lost its server meanwhile is not done. */
  async #perform(question: MachineQuestion, id: string, signal: AbortSignal): Promise<void> {
    const { machines, images, leftovers } = this.#options;
    await leftovers.settled(id);
    const server = await this.#server(id);
    const { job } = question;
    if (!holds(server, job))
      throw !job || job.beside ? new HostOrderEnded('the server is being deleted') : new HostOrderSuperseded();
    signal.throwIfAborted();
    if (question.kind === 'perform') {
      const { work, origin } = question;
      return machines.perform({ work, server, origin, job }, signal);
    }
    const { imageId, caller } = question;
    await machines.saveSnapshot(
      { server, imageId, caller, job },
      (content) => images.upload(caller, imageId, content),
      signal,
    );
  }
}
