import { awaitStatements, type Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import type { MachineJob, MachineRequest } from '../../drivers/machines.js';
import type { InstanceStep } from '../../events/instance-step.js';
import { currentAttempt } from '../../jobs/attempt-of.js';
import type { Job } from '../../jobs/jobs.js';
import { LeaseLost } from '../../jobs/worker.js';
import type { ActionEvent, Fault, Server, ServerPatch, TaskState } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { lockAction, recordEvents } from '../../servers/action-history/actions.js';
import { type ActionNotifications, type Notifies, notificationsOf } from './notifications.js';
import { Superseded } from './superseded.js';

/**
 * Performs additional writes in a transaction that changes a server. May return further changes to the server record.
 */
export type AdditionalWrite = (tx: Tx, server: Server) => Promise<ServerPatch | undefined>;

interface WriteOptions {
  readonly additionalWrite?: AdditionalWrite;
  /**
   * Whether the write may share a transaction with writes of other jobs, because it changes only rows that belong to
   * this server.
   */
  readonly sharesTransaction?: boolean;
  /** Whether this is the last write of the action. */
  readonly isLast?: boolean;
  /** Whether the same transaction deletes the job. */
  readonly deletesJob?: boolean;
}

/**
 * Name of the group in which writes of different jobs share transactions. Writes of requests are in another group, so
 * that jobs and requests do not wait for each other's commits.
 */
const JOB_WRITES = 'jobs';

const IDLE_PATCH = { taskState: null, jobId: null, jobAttempt: undefined } as const;

/**
 * One attempt of a job that owns its server. Every write checks that the server still belongs to this attempt, which
 * fences superseded jobs and workers whose lease has expired. History events are written with the next state change.
 */
export class ServerRun<Arguments = unknown> {
  readonly core: Core;
  readonly job: Job;
  readonly context: Context;
  readonly signal: AbortSignal;
  /** The arguments that `begin` returned, as stored with the job. */
  readonly arguments: Arguments;
  /** The server as this job last read or wrote it. */
  server: Server;
  readonly #notifications: ActionNotifications;
  readonly #events = new Map<string, ActionEvent>();
  /** Names of the steps in progress for which notifications are sent, outermost first. */
  #open: string[] = [];
  /** Notifications to send with the next write. */
  #pending: InstanceStep[] = [];

  /** @param action the action of the job; null for an unknown kind, which sends no notifications */
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

  /** Whether this job runs concurrently with the job that owns the server. */
  protected readonly concurrent: boolean = false;

  /** Returns undefined if this attempt may write to its server, otherwise the error that explains why it may not. */
  protected async ownershipError(tx: Tx, server: Server): Promise<Superseded | LeaseLost | undefined> {
    const { id, attempts } = this.job;
    if (server.jobId === id) return currentAttempt(server) === attempts ? undefined : new LeaseLost(id);
    // A later attempt may have ended the job. In that case, this attempt must not clean up.
    if (!(await this.core.worker.hasLease(tx, id))) return new LeaseLost(id);
    return new Superseded(`server ${server.id} belongs to another job`);
  }

  /** Starts the notification step that spans the entire job, if the action defines `startAndEnd`. */
  begin(): void {
    const { startAndEnd } = this.#notifications;
    if (startAndEnd) this.enter(startAndEnd);
  }

  /**
   * Starts a notification step. The next write sends the step's start notification, which shows the server as it is
   * now. The step ends when `endStep` is called, or with the job's last write.
   */
  enter(name: string): void {
    this.#open.push(name);
    this.#notify({ name, phase: 'start', server: this.server });
  }

  /** Ends the notification step that was started last. */
  endStep(): void {
    const name = this.#open.pop();
    if (name !== undefined) this.#notify({ name, phase: 'end', server: this.server });
  }

  /** Sends a notification without a phase such as `start` or `end`. */
  notifyWithoutPhase(name: string): void {
    this.#notify({ name, server: this.server });
  }

  #notify(step: InstanceStep): void {
    if (this.core.events.isActive) this.#pending.push(step);
  }

  /**
   * Returns a job's last notifications: "error" if the job has failed, otherwise "end" for each step in progress,
   * innermost first.
   */
  #ending(server: Server, fault: Fault | null): readonly InstanceStep[] {
    if (!fault) return this.#open.toReversed().map((name) => ({ name, phase: 'end', server }));
    const { failed } = this.#notifications;
    return failed ? [{ name: failed, phase: 'error', server, fault }] : [];
  }

  /** Sends the remaining "end" notifications of a job that ended without a call of `finish()`. Does not change the server. */
  async notifyRemainingEnds(): Promise<void> {
    const { core, context } = this;
    if (!core.events.isActive || this.#open.length === 0) return;
    await core.store.transaction(async (tx) => {
      const current = await tables.servers.lock(tx, this.server.id);
      if (!current || (await this.ownershipError(tx, current))) return;
      for (const step of [...this.#pending, ...this.#ending(current, null)])
        await core.events.emitStep(tx, step, context, this.arguments);
    });
    this.#pending = [];
    this.#open = [];
  }

  /**
   * Changes the server record, with additional writes in the same transaction. Without additional writes, the
   * transaction may be shared with other servers.
   */
  update(patch: ServerPatch, additionalWrite?: AdditionalWrite): Promise<Server> {
    return this.write(patch, { additionalWrite, sharesTransaction: !additionalWrite });
  }

  /**
   * Like `update`, but may share a transaction with writes of other jobs. The write must not conflict with jobs on
   * other servers.
   */
  updateInSharedTransaction(patch: ServerPatch, additionalWrite: AdditionalWrite): Promise<Server> {
    return this.write(patch, { additionalWrite, sharesTransaction: true });
  }

  protected async write(
    patch: ServerPatch,
    { additionalWrite, sharesTransaction, isLast, deletesJob }: WriteOptions,
  ): Promise<Server> {
    const events = [...this.#events.values()];
    const pendingSteps = [...this.#pending];
    const { store } = this.core;
    const work = async (tx: Tx) => {
      const { id } = this.server;
      const { requestId } = this.context;
      const [current, action] = await awaitStatements([
        tables.servers.lockToUpdate(tx, id, this.server.revision),
        events.length > 0 ? lockAction(tx, id, requestId) : undefined,
      ]);
      if (!current) throw new Superseded(`server ${id} does not exist`);
      const ownershipError = await this.ownershipError(tx, current);
      if (ownershipError) throw ownershipError;
      tx.concerns(this.context.caller.projectId);
      const additionalPatch = (await additionalWrite?.(tx, current)) ?? {};
      const next = { ...current, ...patch, ...additionalPatch, updatedAt: this.core.clock.now() };
      const emit = (step: InstanceStep) => this.core.events.emitStep(tx, step, this.context, this.arguments);
      const [changed] = await awaitStatements([
        tables.servers.update(tx, next),
        action && recordEvents(tx, action, events),
        deletesJob && this.core.worker.complete(tx, this.job.id),
        // Notifications are stored in the order of these calls.
        ...pendingSteps.map(emit),
        this.core.events.emitState(tx, current, next, this.context),
        ...(isLast ? this.#ending(next, patch.fault ?? null) : []).map(emit),
      ]);
      return changed;
    };
    this.server = await (sharesTransaction ? store.together(work, JOB_WRITES) : store.transaction(work));
    this.#pending = this.#pending.slice(pendingSteps.length);
    if (isLast) this.#open = [];
    return this.server;
  }

  /** Performs the job's last write, which clears the task state and releases the server for the next action. */
  async finish(patch: ServerPatch, additionalWrite?: AdditionalWrite): Promise<void> {
    await this.write({ ...IDLE_PATCH, ...patch }, { additionalWrite, isLast: true });
  }

  /**
   * Performs the job's last write, and deletes the job in the same transaction. The transaction may be shared with
   * other servers, unless additional writes release capacity, because releasing capacity locks hosts.
   */
  async end(patch: ServerPatch, additionalWrite?: AdditionalWrite): Promise<void> {
    const sharesTransaction = !additionalWrite || this.server.claims.length === 0;
    await this.write(
      { ...IDLE_PATCH, ...patch },
      { additionalWrite, sharesTransaction, isLast: true, deletesJob: true },
    );
  }

  /**
   * Executes a driver command, and sets the task state while the command runs. Actions control machines only through
   * this method. If `event` is set, the outcome is recorded as an event with that name in the action history.
   */
  async perform(work: DriverWork, task?: TaskState, event?: string): Promise<void> {
    const step = event ? this.#begin(event) : undefined;
    const isTaskShown = task !== undefined && task !== this.server.taskState;
    if ((isTaskShown || step || this.#pending.length > 0) && !this.isSynchronous(work))
      await this.update(isTaskShown ? { taskState: task } : {});
    try {
      await this.core.machines.perform(this.#machineRequest(work), this.signal);
      if (step) this.#end(step, 'Success', null);
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      if (step) this.#end(step, 'Error', (error as Error).message);
      throw error;
    }
  }

  /** Returns whether the driver executes a command synchronously: clients then cannot observe intermediate states. */
  isSynchronous(work: DriverWork): boolean {
    return this.core.machines.isSynchronous(this.#machineRequest(work));
  }

  /** Uploads the content of a completed snapshot to the image service. */
  async saveSnapshot(imageId: string): Promise<void> {
    const { images } = this.core.catalogs;
    const { caller } = this.context;
    const request = { server: this.server, imageId, caller, job: this.#machineJob() };
    await this.core.machines.saveSnapshot(request, (content) => images.upload(caller, imageId, content), this.signal);
  }

  /** Sets task states in order. In each of them, the driver executes a preparation step, which changes no machine. */
  async passThrough(tasks: readonly TaskState[]): Promise<void> {
    for (const step of tasks) await this.perform({ verb: 'prepare', step }, step);
  }

  /** Runs a function that is not a driver command, and records its outcome as an event in the action history. */
  async step<T>(event: string, work: () => Promise<T>): Promise<T> {
    const started = this.#begin(event);
    try {
      const result = await work();
      this.#end(started, 'Success', null);
      return result;
    } catch (error) {
      this.#end(started, 'Error', (error as Error).message);
      throw error;
    }
  }

  #machineRequest(work: DriverWork): MachineRequest {
    const origin = { action: this.job.kind, requestId: this.context.requestId };
    return { work, server: this.server, origin, job: this.#machineJob() };
  }

  #machineJob(): MachineJob {
    return { id: this.job.id, attempt: this.job.attempts, concurrent: this.concurrent };
  }

  #begin(name: string): ActionEvent {
    const started: ActionEvent = {
      name,
      startTime: this.core.clock.now(),
      finishTime: null,
      result: null,
      traceback: null,
      host: this.server.host,
      details: null,
    };
    this.#events.set(name, started);
    return started;
  }

  #end(started: ActionEvent, result: 'Success' | 'Error', details: string | null): void {
    const traceback = details && `Traceback (most recent call last):\n${details}\n`;
    const { host } = this.server;
    this.#events.set(started.name, { ...started, host, finishTime: this.core.clock.now(), result, traceback, details });
  }
}
