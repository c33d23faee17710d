import { settled, type Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import type { MachineJob, MachineOrder } from '../../drivers/machines.js';
import type { InstanceStep } from '../../events/instance-step.js';
import { attemptOf } from '../../jobs/attempt-of.js';
import type { Job } from '../../jobs/jobs.js';
import { LeaseLost } from '../../jobs/worker.js';
import type { ActionEvent, Fault, Server, ServerPatch, TaskState } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { lockAction, recordEvents } from '../../servers/action-history/actions.js';
import { type ActionNotifications, type Notifies, notificationsOf } from './notifications.js';
import type { DoneWork, RestOfWork } from './rest-of-work.js';
import { Superseded } from './superseded.js';

/** Further writes of a transaction that changes a server; may add to the patch. */
export type AlsoWrite = (tx: Tx, server: Server) => Promise<ServerPatch | undefined>;

interface HowToWrite {
  readonly also?: AlsoWrite;
  /** Whether it may share its transaction: what it changes is this server's alone. */
  readonly together?: boolean;
  /** Whether the action has come to its end with this. */
  readonly last?: boolean;
  /** Whether the job goes with it. */
  readonly ends?: boolean;
  /** Is over with the same write where there is nothing to do for it. */
  readonly rest?: RestOfWork;
}

/** The fields of a server without a job. */
const IDLE = { taskState: null, jobId: null, jobAttempt: undefined } as const;

/**
 * One attempt of a job, which owns its server. Every write checks, in its own transaction, that the server still belongs to
 * the job and to this attempt: a worker that was paused until its lease expired, and a job that was overtaken, can do no
 * harm. Steps are collected and written with the next change of state.
 */
export class ServerRun<Arguments = unknown> {
  readonly core: Core;
  readonly job: Job;
  readonly context: Context;
  readonly signal: AbortSignal;
  /** What `begin` has decided on: the stored job gives it back as it was. */
  readonly arguments: Arguments;
  /** The server as this job last read or wrote it. */
  server: Server;
  readonly #notifications: ActionNotifications;
  readonly #events = new Map<string, ActionEvent>();
  /** Steps that are under way, as others are told of them; the outermost first. */
  #open: string[] = [];
  /** What is told with the next write. */
  #told: InstanceStep[] = [];

  /** @param action what the job carries out; null for a kind that this process does not know, which sends no notifications */
  constructor(
    core: Core,
    job: Job,
    server: Server,
    signal: AbortSignal,
    action: { readonly notifies: Notifies } | null,
  ) {
    this.#notifications = action ? notificationsOf(action) : {};
    this.core = core;
    this.job = job;
    this.context = job.payload.context;
    this.arguments = job.payload.arguments as Arguments;
    this.server = server;
    this.signal = signal;
  }

  /** Whether this job leaves the server to others. */
  protected readonly beside: boolean = false;

  /** Returns why this attempt may no longer write to its server; undefined where it may. */
  protected async overtaken(tx: Tx, server: Server): Promise<Superseded | LeaseLost | undefined> {
    const { id, attempts } = this.job;
    if (server.jobId === id) return attemptOf(server) === attempts ? undefined : new LeaseLost(id);
    // A later attempt may have ended the job. What this one knows of it is not its own to clean up.
    if (!(await this.core.worker.holds(tx, id))) return new LeaseLost(id);
    return new Superseded(`${server.id} belongs to another job`);
  }

  /** The work of the action begins. */
  begin(): void {
    const { around } = this.#notifications;
    if (around) this.enter(around);
  }

  /** A step begins: told with the next write, and with the server as it is now. It ends with `leave`, or with the work. */
  enter(name: string): void {
    this.#open.push(name);
    this.#tell({ name, phase: 'start', server: this.server });
  }

  /** The step that was entered last has come to its end. */
  leave(): void {
    const name = this.#open.pop();
    if (name !== undefined) this.#tell({ name, phase: 'end', server: this.server });
  }

  /** Something has happened that has no beginning and no end. */
  pass(name: string): void {
    this.#tell({ name, server: this.server });
  }

  #tell(step: InstanceStep): void {
    if (this.core.events.active) this.#told.push(step);
  }

  /** What is told of the end: steps that are under way end with the work, the innermost first, or else it has failed. */
  #ending(server: Server, fault: Fault | null): readonly InstanceStep[] {
    if (!fault) return this.#open.toReversed().map((name) => ({ name, phase: 'end', server }));
    const { failed } = this.#notifications;
    return failed ? [{ name: failed, phase: 'error', server, fault }] : [];
  }

  /** Ends what is still under way where the work's last write was like any other. Not a change of the server. */
  async tellRest(): Promise<void> {
    const { core, context } = this;
    if (!core.events.active || this.#open.length === 0) return;
    await core.store.transaction(async (tx) => {
      const current = await tables.servers.lock(tx, this.server.id);
      if (!current || (await this.overtaken(tx, current))) return;
      for (const step of [...this.#told, ...this.#ending(current, null)])
        await core.events.stepped(tx, step, context, this.arguments);
    });
    this.#told = [];
    this.#open = [];
  }

  /** Changes the server, together with whatever else belongs into the same transaction. */
  update(patch: ServerPatch, also?: AlsoWrite): Promise<Server> {
    return this.write(patch, { also });
  }

  /**
   * Like `update`, for what writes nothing that another server's job could be changing at that moment. Where there is nothing
   * to do for the rest of the work, the server is as that leaves it, and the job is done: true.
   */
  async updateTogether(patch: ServerPatch, also: AlsoWrite, rest?: RestOfWork): Promise<boolean> {
    const { jobId } = await this.write(patch, { also, together: true, rest });
    if (!rest || jobId !== null) return false;
    await this.carryOut(rest);
    return true;
  }

  /** Has the machine do what there is nothing to do for, when all that comes of it is written down. */
  async carryOut({ works }: RestOfWork, server = this.server): Promise<void> {
    for (const work of works) await this.core.machines.perform(this.#order(work, server), this.signal);
  }

  /** What the rest of the work comes to, if there is nothing to do for it; whoever is told of steps is told of each. */
  done({ works, event, end }: RestOfWork, server: Server): DoneWork | undefined {
    const { machines, events } = this.core;
    if (events.active || !works.every((work) => machines.nothingToDo(this.#order(work, server)))) return undefined;
    const ended = [...this.#events.values(), this.#begun(event)].map((step) =>
      step.result === null ? this.#ended(step, 'Success', null, server.host) : step,
    );
    return { patch: { ...IDLE, ...end() }, events: ended };
  }

  protected async write(patch: ServerPatch, { also, together, last, ends, rest }: HowToWrite): Promise<Server> {
    const events = [...this.#events.values()];
    const told = [...this.#told];
    const { store } = this.core;
    const work = async (tx: Tx) => {
      const { id } = this.server;
      const { requestId } = this.context;
      const [current, action] = await settled([
        tables.servers.lock(tx, id),
        events.length > 0 ? lockAction(tx, id, requestId) : undefined,
      ]);
      if (!current) throw new Superseded(`${id} is gone`);
      const overtaken = await this.overtaken(tx, current);
      if (overtaken) throw overtaken;
      tx.concerns(this.context.caller.projectId);
      const more = (await also?.(tx, current)) ?? {};
      const next = { ...current, ...patch, ...more };
      const done = rest && this.done(rest, next);
      const now = this.core.clock.now();
      const [changed] = await settled([
        tables.servers.update(tx, { ...next, ...done?.patch, updatedAt: now }),
        action && recordEvents(tx, action, done?.events ?? events),
        (ends || done) && this.core.worker.complete(tx, this.job.id),
      ]);
      const tell = (step: InstanceStep) => this.core.events.stepped(tx, step, this.context, this.arguments);
      for (const step of told) await tell(step);
      await this.core.events.changed(tx, current, changed, this.context);
      if (last) for (const step of this.#ending(changed, patch.fault ?? null)) await tell(step);
      return changed;
    };
    this.server = await (together ? store.together(work) : store.transaction(work));
    this.#told = this.#told.slice(told.length);
    if (last) this.#open = [];
    return this.server;
  }

  /** The last write: no task is left, and the server is free for the next action. */
  async finish(patch: ServerPatch, also?: AlsoWrite): Promise<void> {
    await this.write({ ...IDLE, ...patch }, { also, last: true });
  }

  /** The last thing that the work does: the job goes with it, in one transaction instead of two. */
  async end(patch: ServerPatch): Promise<void> {
    await this.write({ ...IDLE, ...patch }, { together: true, last: true, ends: true });
  }

  /**
   * Has the machine do something, showing the task meanwhile: all that work ever tells machines goes this way. The
   * event, if named, records how it went.
   */
  async perform(work: DriverWork, task?: TaskState, event?: string): Promise<void> {
    const step = event ? this.#begin(event) : undefined;
    const shown = task !== undefined && task !== this.server.taskState;
    if ((shown || step || this.#told.length > 0) && !this.isInstant(work))
      await this.update(shown ? { taskState: task } : {});
    try {
      await this.core.machines.perform(this.#order(work), this.signal);
      if (step) this.#end(step, 'Success', null);
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      if (step) this.#end(step, 'Error', (error as Error).message);
      throw error;
    }
  }

  /** True when the machine will do it without waiting for anything: nobody could see a state on the way. */
  isInstant(work: DriverWork): boolean {
    return this.core.machines.isInstant(this.#order(work));
  }

  /** Gives the image service what a snapshot holds that the machine has made. */
  async saveSnapshot(imageId: string): Promise<void> {
    const { images } = this.core.catalogs;
    const { caller } = this.context;
    const order = { server: this.server, imageId, caller, job: this.#machineJob() };
    await this.core.machines.saveSnapshot(order, (content) => images.upload(caller, imageId, content), this.signal);
  }

  /** Passes through tasks that need nothing of the machine. */
  async passThrough(tasks: readonly TaskState[]): Promise<void> {
    for (const step of tasks) await this.perform({ verb: 'prepare', step }, step);
  }

  /** Records a step that is not the machine's. */
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

  #order(work: DriverWork, server = this.server): MachineOrder {
    const origin = { action: this.job.kind, requestId: this.context.requestId };
    return { work, server, origin, job: this.#machineJob() };
  }

  #machineJob(): MachineJob {
    return { id: this.job.id, attempt: this.job.attempts, beside: this.beside };
  }

  #begin(name: string): ActionEvent {
    const begun = this.#begun(name);
    this.#events.set(name, begun);
    return begun;
  }

  #begun(name: string): ActionEvent {
    return {
      name,
      startTime: this.core.clock.now(),
      finishTime: null,
      result: null,
      traceback: null,
      host: this.server.host,
      details: null,
    };
  }

  #end(begun: ActionEvent, result: 'Success' | 'Error', details: string | null): void {
    this.#events.set(begun.name, this.#ended(begun, result, details));
  }

  #ended(
    begun: ActionEvent,
    result: 'Success' | 'Error',
    details: string | null,
    host = this.server.host,
  ): ActionEvent {
    const traceback = details && `Traceback (most recent call last):\n${details}\n`;
    return { ...begun, host, finishTime: this.core.clock.now(), result, traceback, details };
  }
}
