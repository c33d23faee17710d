import { NotificationListener, type Store } from '@apistrata/record-store';
import { isOutage } from '@apistrata/record-store/errors';
import { bootTime } from '../clock/boot-time.js';
import type { PartHealth } from '../core/part-health.js';
import { BatchSender } from './batches.js';
import type { HostProcessFigures } from './host-figures.js';
import type { HostLease } from './host-lease.js';
import { HostRequestEnded, HostRequestSuperseded, type HostRequestWorker } from './host-request-worker.js';
import type { HostRequest, HostRequests, ReceivedResponse } from './host-requests.js';
import { type MachineFence, SILENCE_FRACTION } from './machine-fence.js';
import type { OrphanedMachines } from './orphaned-machines.js';
import { withdrawFence } from './register-host.js';

/** Dependencies and options of a host process. */
export interface HostProgramOptions {
  readonly url: string;
  readonly store: Store;
  readonly requests: HostRequests;
  readonly lease: HostLease;
  readonly owner: string;
  readonly name: string;
  readonly work: HostRequestWorker;
  readonly orphans: OrphanedMachines;
  /**
   * Records a heartbeat, and whether the host fences its machines. If `removed` is set, also registers the host:
   * `removed` contains the ids of evacuations whose servers have no resources on this host anymore. Returns false,
   * without recording a heartbeat, if other evacuations from this host exist.
   */
  readonly register: (removed: readonly string[] | undefined, fences: boolean) => Promise<boolean>;
  readonly concurrency: number;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly fence: MachineFence;
  /** The time without a heartbeat after which other processes consider this host down. */
  readonly downMs: number;
  readonly onError: (error: unknown) => void;
  readonly onLost: () => void;
}

/** Polling interval for requests, with and without database notifications. */
const POLL_INTERVAL_MS = { listening: 1_000, unnotified: 50 } as const;
const CLEAN_UP_INTERVAL_MS = 60_000;
const RETRY_MS = 500;
/** The number of checks for missing heartbeats within `downMs`. */
const FENCE_CHECKS = 20;

/** Runs the loops of a host process: lease renewal, heartbeats, requests and results. */
export class HostProgram {
  readonly #options: HostProgramOptions;
  readonly #notifications: NotificationListener;
  readonly #results: BatchSender<ReceivedResponse>;
  readonly #stopping = new AbortController();
  readonly #running = new Map<string, { readonly ending: AbortController; readonly done: Promise<void> }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #pollTimer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #mustRepeat = false;
  #cleaning: Promise<void> | undefined;
  #heartbeatInProgress: Promise<void> | undefined;
  /** The `bootTime()` just before the last heartbeat was stored. */
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  #hasLostLease = false;

  constructor(options: HostProgramOptions) {
    const { url, store, name, requests, owner } = options;
    this.#options = options;
    this.#notifications = new NotificationListener({
      url,
      session: store,
      receiver: name,
      onNotification: (payload) => this.#onNotification(payload),
    });
    this.#results = new BatchSender((results) => requests.storeResult(name, owner, results), isOutage);
  }

  /** Removes orphaned machines, then registers the host, then accepts requests. */
  async start(): Promise<void> {
    const { heartbeatMs, leaseMs, downMs } = this.#options;
    this.#runEvery(leaseMs / 3, () => this.#renew());
    try {
      await this.#runHeartbeat();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#runEvery(heartbeatMs, () => this.#runHeartbeat());
    this.#runEvery(downMs / FENCE_CHECKS, () => this.#fenceIfSilent());
    this.#runEvery(CLEAN_UP_INTERVAL_MS, () => this.#cleanUp());
    this.#notifications.start();
    void this.#check();
  }

  /**
   * Aborts running requests, and leaves them to the next process with this name. The machines continue to run without a
   * fence, so the record of the host no longer contains one.
   */
  async stop(): Promise<void> {
    this.#stopping.abort(new HostRequestEnded('the host is stopping'));
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#pollTimer);
    await this.#notifications.stop();
    await this.#checking;
    await this.#cleaning;
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    if (!this.#hasLostLease) await this.#endFence().catch(this.#options.onError);
    await this.#options.lease.release().catch(this.#options.onError);
  }

  /** Checks that heartbeats are stored in time. */
  health(): PartHealth {
    const ageSeconds = Math.round((bootTime() - this.#heartbeatAt) / 1000);
    const healthy = !this.#isSilent();
    return { healthy, reason: `The last heartbeat was stored ${ageSeconds} s ago.` };
  }

  figures(): HostProcessFigures {
    const { lease, fence } = this.#options;
    const { engaged: fenced, count: fences } = fence.state;
    return { heartbeatAgeMs: bootTime() - this.#heartbeatAt, leaseMs: lease.remainingMs, fenced, fences };
  }

  /** Runs a task periodically, without overlap. Errors are reported and do not stop later runs. */
  #runEvery(ms: number, task: () => Promise<void>): void {
    let isBusy = false;
    const timer = setInterval(async () => {
      if (isBusy) return;
      isBusy = true;
      try {
        await task();
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#options.onError(error);
      } finally {
        isBusy = false;
      }
    }, ms);
    this.#timers.add(timer);
  }

  /** Returns whether other processes may soon consider this host down, or already do. */
  #isSilent(): boolean {
    return bootTime() - this.#heartbeatAt >= this.#options.downMs * SILENCE_FRACTION;
  }

  #runHeartbeat(): Promise<void> {
    this.#heartbeatInProgress = this.#storeHeartbeat();
    return this.#heartbeatInProgress;
  }

  /** Stores a heartbeat. If other processes may consider this host down, first removes machines that were evacuated. */
  async #storeHeartbeat(): Promise<void> {
    const { register, fence, lease } = this.#options;
    const { signal } = this.#stopping;
    const wasSilent = this.#isSilent();
    if (wasSilent && !(await lease.renew())) {
      void this.#endAfterLostLease();
      throw new HostRequestEnded('another process has taken over the host');
    }
    const fences = await fence.ensureGuard(Number.isFinite(this.#heartbeatAt) ? this.#heartbeatAt : bootTime());
    let removed = wasSilent ? await this.#removeEvacuatedMachines() : undefined;
    let now = bootTime();
    while (!(await register(removed, fences))) {
      removed = await this.#removeEvacuatedMachines();
      now = bootTime();
    }
    this.#heartbeatAt = now;
    await fence.renew(now);
    // If this process was suspended while it stored the heartbeat, the heartbeat may be outdated.
    if (!this.#isSilent()) await fence.lift(signal);
  }

  async #removeEvacuatedMachines(): Promise<readonly string[]> {
    const { signal } = this.#stopping;
    const removed = await this.#options.orphans.cleanUpUntilComplete(signal);
    signal.throwIfAborted();
    return removed;
  }

  async #fenceIfSilent(): Promise<void> {
    if (!this.#isSilent()) return;
    if (await this.#isReplaced()) return this.#endAfterLostLease();
    // A heartbeat may have been stored since the first check.
    if (this.#isSilent()) await this.#options.fence.engage(this.#heartbeatAt);
  }

  /**
   * Returns whether another process is known to be the host: a process that was suspended must not fence its
   * successor's machines. Does not wait for a database that does not respond.
   */
  #isReplaced(): Promise<boolean> {
    const { lease, downMs } = this.#options;
    const timeout = new Promise<boolean>((resolve) => setTimeout(resolve, downMs / FENCE_CHECKS, false).unref());
    const replacementCheck = lease.renew().then(
      (renewed) => !renewed,
      () => false,
    );
    return Promise.race([replacementCheck, timeout]);
  }

  /** Withdraws the fence and ends the guard, after any heartbeat in progress, which would record the fence again. */
  async #endFence(): Promise<void> {
    const { store, name, owner, fence } = this.#options;
    await this.#heartbeatInProgress?.catch(() => {});
    if (await withdrawFence(store, name, owner)) await fence.end();
  }

  async #renew(): Promise<void> {
    if ((await this.#options.lease.renew()) || this.#stopping.signal.aborted) return;
    await this.#endAfterLostLease();
  }

  async #endAfterLostLease(): Promise<void> {
    if (this.#hasLostLease) return;
    this.#hasLostLease = true;
    await this.stop();
    this.#options.onLost();
  }

  async #cleanUp(): Promise<void> {
    const { requests, name, orphans } = this.#options;
    this.#cleaning = requests.cleanUp(name).then(() => orphans.cleanUpAll(this.#stopping.signal));
    await this.#cleaning.catch(this.#options.onError);
    this.#cleaning = undefined;
  }

  #onNotification(payload: string): void {
    const [kind, id] = payload.split(' ');
    if (kind === 'cancel' && id) this.#running.get(id)?.ending.abort(new HostRequestEnded('the request was cancelled'));
    else void this.#check();
  }

  /** Claims requests, with one query at a time. A call during a query triggers another one afterwards. */
  #check(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    if (this.#checking) this.#mustRepeat = true;
    else {
      clearTimeout(this.#pollTimer);
      this.#checking = this.#claim().finally(() => {
        this.#checking = undefined;
        const mustRepeat = this.#mustRepeat;
        this.#mustRepeat = false;
        if (mustRepeat) void this.#check();
        else this.#schedule();
      });
    }
    return this.#checking ?? Promise.resolve();
  }

  #schedule(): void {
    if (this.#stopping.signal.aborted) return;
    const ms = this.#notifications.listening ? POLL_INTERVAL_MS.listening : POLL_INTERVAL_MS.unnotified;
    this.#pollTimer = setTimeout(() => void this.#check(), ms);
  }

  async #claim(): Promise<void> {
    const { requests, name, owner, concurrency, onError } = this.#options;
    try {
      const freeSlots = concurrency - this.#running.size;
      if (freeSlots <= 0) return;
      for (const request of await requests.claim(name, owner, freeSlots)) this.#startRequest(request);
    } catch (error) {
      onError(error);
    }
  }

  #startRequest(request: HostRequest): void {
    const ending = new AbortController();
    const done = this.#run(request, AbortSignal.any([this.#stopping.signal, ending.signal])).finally(() => {
      this.#running.delete(request.id);
      // Requests may be waiting because all slots were in use.
      if (this.#running.size === this.#options.concurrency - 1) void this.#check();
    });
    this.#running.set(request.id, { ending, done });
  }

  async #run(request: HostRequest, signal: AbortSignal): Promise<void> {
    const { work, requests, owner, onError } = this.#options;
    const { id, awaited } = request;
    try {
      const response = await work.respond(request, signal);
      await this.#storeResult(() => (awaited ? this.#results.add({ id, result: response }) : requests.end(owner, id)));
    } catch (error) {
      if (error instanceof HostRequestSuperseded)
        return this.#storeResult(() => requests.end(owner, id)).catch(() => {});
      // Errors of requests that were cancelled, or that the next process repeats, are not reported.
      if (!signal.aborted) onError(error);
    }
  }

  /** Stores the result of a completed request, and retries for as long as the database is unavailable. */
  async #storeResult(store: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await store();
      } catch (error) {
        this.#options.onError(error);
        if (this.#stopping.signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
