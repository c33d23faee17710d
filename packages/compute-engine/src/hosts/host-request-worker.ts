import type { Catalogs } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import { isOutage } from '@apistrata/record-store/errors';
import type { MachineJob, Machines } from '../drivers/machines.js';
import { EngineError } from '../errors/engine-error.js';
import { currentAttempt } from '../jobs/attempt-of.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import type { HostRequest } from './host-requests.js';
import { failedResult, type MachineCall, type MachineCallResult } from './machine-call.js';
import type { OrphanedMachines } from './orphaned-machines.js';

/**
 * The error or abort reason of work on a machine that ends before it is complete, for example because the host is
 * stopping or the request was cancelled.
 */
export class HostRequestEnded extends EngineError<'HOST_REQUEST_ENDED'> {
  constructor(message: string) {
    super('HOST_REQUEST_ENDED', message);
  }
}

/**
 * Thrown if a later job, or a later attempt of the same job, owns the server. The request is removed without a
 * response.
 */
export class HostRequestSuperseded extends HostRequestEnded {
  constructor() {
    super('another job, or a later attempt of this job, now owns the server');
  }
}

/** Dependencies and options of a `HostRequestWorker`. */
export interface HostWorkOptions {
  readonly name: string;
  readonly store: Store;
  readonly machines: Machines;
  readonly images: Pick<Catalogs['images'], 'upload'>;
  readonly orphans: OrphanedMachines;
}

interface RunningWork {
  readonly ending: AbortController;
  readonly done: Promise<unknown>;
}

const RETRY_MS = 1_000;

type ServerCall = Extract<MachineCall, { readonly kind: 'perform' | 'saveSnapshot' }>;

/** Returns whether a job may still change its server. */
function canChangeServer(server: Server, job: MachineJob | undefined): boolean {
  if (!job || job.concurrent) return !server.deleted && (!job || server.taskState !== 'deleting');
  return server.jobId === job.id && (job.attempt === undefined || job.attempt === currentAttempt(server));
}

/**
 * Returns whether a driver has rejected a command because the machine must not run until the next heartbeat. By then,
 * the server may be on another host.
 */
function isFenceError(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'HOST_FENCED';
}

/** Waits, or returns early when the signal is aborted. */
function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    signal.addEventListener('abort', finish, { once: true });
  });
}

/**
 * Executes the requests to a host. If several jobs own a server one after another, only the commands of its current
 * owner are executed.
 */
export class HostRequestWorker {
  readonly #options: HostWorkOptions;
  /** The running work of the job that owns each server, by server id. */
  readonly #ownerWork = new Map<string, RunningWork>();
  /** Controllers that abort concurrent work of other jobs, by server id. */
  readonly #concurrent = new Map<string, Set<AbortController>>();

  constructor(options: HostWorkOptions) {
    this.#options = options;
  }

  /**
   * Executes a request and returns its result or error.
   *
   * @throws the reason of `stopping`, or {@link HostRequestSuperseded}
   */
  async respond(request: HostRequest, stopping: AbortSignal): Promise<MachineCallResult> {
    for (;;) {
      try {
        return { value: (await this.#execute(request, stopping)) ?? null };
      } catch (error) {
        if (stopping.aborted) throw stopping.reason;
        if (error instanceof HostRequestSuperseded) throw error;
        // A database outage or the fencing of the host is not a failure of the machine.
        if (!isOutage(error) && !isFenceError(error)) return failedResult(error);
        await waitOrAbort(RETRY_MS, stopping);
        stopping.throwIfAborted();
      }
    }
  }

  async #execute({ call, serverId }: HostRequest, stopping: AbortSignal): Promise<unknown> {
    const { name, machines, orphans } = this.#options;
    if (call instanceof Error) throw call;
    switch (call.kind) {
      case 'perform':
      case 'saveSnapshot':
        return this.#executeForServer(call, serverId, stopping);
      case 'tidy':
        return serverId === null ? undefined : orphans.cleanUp(serverId, stopping);
      case 'cacheImages':
        return machines.cacheImages(name, call.imageIds);
    }
  }

  async #server(id: string): Promise<Server> {
    const server = await tables.servers.get(this.#options.store, id);
    if (!server) throw new Error(`server ${id} does not exist`);
    return server;
  }

  async #executeForServer(request: ServerCall, id: string | null, stopping: AbortSignal): Promise<void> {
    if (id === null) throw new Error(`the request ${request.kind} does not name a server`);
    const abortController = new AbortController();
    const signal = AbortSignal.any([stopping, abortController.signal]);
    const isOwner = request.job !== undefined && !request.job.concurrent;
    if (!isOwner) return this.#executeConcurrently(request, id, abortController, signal);
    // A job that has lost the server must not abort the work of the job that owns it.
    if (this.#ownerWork.has(id) && !canChangeServer(await this.#server(id), request.job))
      throw new HostRequestSuperseded();
    const previous = this.#ownerWork.get(id);
    const done = this.#executeAfter(previous, request, id, signal);
    const running = { ending: abortController, done };
    this.#ownerWork.set(id, running);
    try {
      await done;
    } catch (error) {
      // A driver may throw any error when it is aborted.
      throw abortController.signal.aborted ? abortController.signal.reason : error;
    } finally {
      if (this.#ownerWork.get(id) === running) this.#ownerWork.delete(id);
    }
  }

  /** Executes a command after aborting and awaiting the work of the previous job, which no longer owns the server. */
  async #executeAfter(
    previous: RunningWork | undefined,
    request: ServerCall,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (previous) {
      previous.ending.abort(new HostRequestSuperseded());
      await previous.done.catch(() => {});
    }
    if (request.kind === 'perform' && request.work.verb === 'destroy')
      for (const abortController of this.#concurrent.get(id) ?? [])
        abortController.abort(new HostRequestEnded('the server is being deleted'));
    await this.#perform(request, id, signal);
  }

  async #executeConcurrently(
    request: ServerCall,
    id: string,
    abortController: AbortController,
    signal: AbortSignal,
  ): Promise<void> {
    const controllers = this.#concurrent.get(id) ?? new Set();
    this.#concurrent.set(id, controllers.add(abortController));
    try {
      await this.#perform(request, id, signal);
    } finally {
      controllers.delete(abortController);
      if (controllers.size === 0) this.#concurrent.delete(id);
    }
  }

  /** Executes a command, unless its job has lost the server in the meantime. */
  async #perform(request: ServerCall, id: string, signal: AbortSignal): Promise<void> {
    const { machines, images, orphans } = this.#options;
    await orphans.waitUntilSettled(id);
    const server = await this.#server(id);
    const { job } = request;
    if (!canChangeServer(server, job))
      throw !job || job.concurrent ? new HostRequestEnded('the server is being deleted') : new HostRequestSuperseded();
    signal.throwIfAborted();
    if (request.kind === 'perform') {
      const { work, origin } = request;
      return machines.perform({ work, server, origin, job }, signal);
    }
    const { imageId, caller } = request;
    await machines.saveSnapshot(
      { server, imageId, caller, job },
      (content) => images.upload(caller, imageId, content),
      signal,
    );
  }
}
