import type { Context } from '../context.js';
import type { Core } from '../core.js';
import type { DriverWork } from '../drivers/driver.js';
import { recordEvents } from '../history/actions.js';
import type { Job } from '../lifecycle/jobs.js';
import type { ActionEvent, Server, ServerPatch, TaskState } from '../model/index.js';
import type { Tx } from '../store/database.js';
import { tables } from '../store/tables.js';

/** Another job has taken the server over (it is being deleted, say): this one ends without a word. */
export class Superseded extends Error {
  readonly code = 'SUPERSEDED';
}

/** Further writes of a transaction that changes a server; may add to the patch. */
export type AlsoWrite = (tx: Tx, server: Server) => Promise<ServerPatch | undefined>;

/**
 * One job's hold on its server. Every write checks, in its own transaction, that the server still belongs to the job,
 * so a job that was overtaken can do no harm. Steps are collected and written with the next change of state.
 */
export class TaskRun {
  readonly core: Core;
  readonly job: Job;
  readonly context: Context;
  readonly signal: AbortSignal;
  /** The server as this job last read or wrote it. */
  server: Server;
  readonly #events = new Map<string, ActionEvent>();

  constructor(core: Core, job: Job, server: Server, signal: AbortSignal) {
    this.core = core;
    this.job = job;
    this.context = job.payload.context;
    this.server = server;
    this.signal = signal;
  }

  /** What the request asked for. */
  get arguments(): Readonly<Record<string, any>> {
    return this.job.payload.arguments;
  }

  /** Whether this job may still write to its server. */
  protected holds(server: Server): boolean {
    return server.jobId === this.job.id;
  }

  /** Changes the server, together with whatever else belongs into the same transaction. */
  async update(patch: ServerPatch, also?: AlsoWrite): Promise<Server> {
    const events = [...this.#events.values()];
    this.server = await this.core.store.transaction(async (tx) => {
      const current = await tables.servers.lock(tx, this.server.id);
      if (!current || !this.holds(current)) throw new Superseded(`${this.server.id} belongs to another job`);
      const more = (await also?.(tx, current)) ?? {};
      await recordEvents(tx, current.id, this.context.requestId, events);
      return tables.servers.update(tx, { ...current, ...patch, ...more, updatedAt: this.core.clock.now() });
    });
    return this.server;
  }

  /** The last write: no task is left, and the server is free for the next action. */
  async finish(patch: ServerPatch, also?: AlsoWrite): Promise<void> {
    await this.update({ taskState: null, jobId: null, ...patch }, also);
  }

  /** Has the driver do something, showing the task meanwhile. The event, if named, records how it went. */
  async perform(work: DriverWork, task?: TaskState, event?: string): Promise<void> {
    const { driver } = this.core;
    const origin = { action: this.job.kind, requestId: this.context.requestId };
    const step = event ? this.#begin(event) : undefined;
    const shown = task !== undefined && task !== this.server.taskState;
    if ((shown || step) && !driver.instantly?.(work, this.server, origin))
      await this.update(shown ? { taskState: task } : {});
    try {
      await driver.perform(work, this.server, this.signal, origin);
      if (step) this.#end(step, 'Success', null);
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      if (step) this.#end(step, 'Error', (error as Error).message);
      throw error;
    }
  }

  /** Passes through tasks that need nothing of the machine. */
  async passThrough(tasks: readonly TaskState[]): Promise<void> {
    for (const step of tasks) await this.perform({ verb: 'prepare', step }, step);
  }

  /** Records a step that is not the driver's. */
  async step<T>(event: string, work: () => Promise<T>): Promise<T> {
    const begun = this.#begin(event);
    try {
      const result = await work();
      this.#end(begun, 'Success', null);
      return result;
    } catch (error) {
      this.#end(begun, 'Error', (error as Error).message);
      throw error;
    }
  }

  #begin(name: string): ActionEvent {
    const begun: ActionEvent = {
      name,
      startTime: this.core.clock.now(),
      finishTime: null,
      result: null,
      traceback: null,
      host: this.server.host,
      details: null,
    };
    this.#events.set(name, begun);
    return begun;
  }

  #end(begun: ActionEvent, result: 'Success' | 'Error', details: string | null): void {
    const finishTime = this.core.clock.now();
    const traceback = details && `Traceback (most recent call last):\n${details}\n`;
    this.#events.set(begun.name, { ...begun, host: this.server.host, finishTime, result, traceback, details });
  }
}
