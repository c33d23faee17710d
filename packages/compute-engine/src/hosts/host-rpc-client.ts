import { randomUUID } from 'node:crypto';
import { NotificationListener, type Store } from '@apistrata/record-store';
import { databaseError, isOutage } from '@apistrata/record-store/errors';
import { BatchSender } from './batches.js';
import type { HostRequests, NewHostRequest } from './host-requests.js';
import { type MachineCallResult, resultValue } from './machine-call.js';

interface WaitingCall {
  readonly request: NewHostRequest;
  readonly report: (response: MachineCallResult) => void;
  readonly fail: (error: unknown) => void;
}

/** Polling interval for responses, with and without database notifications. */
const POLL_INTERVAL_MS = { listening: 2_000, unnotified: 50 } as const;

/** Minimum interval between checks for requests that no longer exist. Hosts remove superseded requests. */
const MISSING_CHECK_INTERVAL_MS = 1_000;

/**
 * PostgreSQL's codes for serialization failures and deadlocks. Statements that change several requests lock them in any
 * order, so two of them can deadlock if two processes send the same requests, for example because one was paused.
 */
const CONFLICT_CODES: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Sends requests to hosts and waits for their responses. Starts no timers or connections before the first request. */
export class HostRpcClient {
  readonly #requests: HostRequests;
  readonly #id = randomUUID();
  readonly #notifications: NotificationListener;
  readonly #postBatches: BatchSender<NewHostRequest>;
  readonly #waiting = new Map<string, Set<WaitingCall>>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #mustRepeat = false;
  #stopped = false;
  #lastMissingCheckAt = 0;

  /** @param url URL of the PostgreSQL database */
  constructor(url: string, store: Store, requests: HostRequests) {
    this.#requests = requests;
    this.#notifications = new NotificationListener({
      url,
      session: store,
      receiver: this.#id,
      onNotification: () => void this.#poll(),
    });
    this.#postBatches = new BatchSender(async (batch) => {
      if (await requests.post(this.#id, batch)) void this.#poll();
    }, isOutage);
  }

  /**
   * Sends a request to a host and waits for the response. If this process is stopping, the request remains, so that the
   * process that continues the job finds it.
   *
   * @param remainsAfterAbort returns whether the request remains after an abort for a given reason
   * @throws the error of the host, or the signal's reason
   */
  async call(
    request: NewHostRequest,
    signal: AbortSignal,
    remainsAfterAbort: (reason: unknown) => boolean,
  ): Promise<unknown> {
    signal.throwIfAborted();
    this.#notifications.start();
    const waiters = this.#waiting.get(request.id) ?? new Set();
    this.#waiting.set(request.id, waiters);
    let waiting: WaitingCall | undefined;
    let rejectCall = () => {};
    const pendingResponse = new Promise<MachineCallResult>((resolve, fail) => {
      waiting = { request, report: resolve, fail };
      waiters.add(waiting);
      rejectCall = () => fail(signal.reason);
    });
    signal.addEventListener('abort', rejectCall, { once: true });
    this.#schedule();
    try {
      const [result] = await Promise.all([pendingResponse, this.#postBatches.add(request)]);
      return resultValue(result);
    } catch (error) {
      if (signal.aborted && !remainsAfterAbort(signal.reason)) await this.#requests.cancel(request.id).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', rejectCall);
      if (waiting) waiters.delete(waiting);
      if (waiters.size === 0 && this.#waiting.get(request.id) === waiters) this.#waiting.delete(request.id);
    }
  }

  /** Sends a request to a host without waiting for a response. */
  async notify(request: NewHostRequest): Promise<void> {
    await this.#requests.post(null, [request]);
  }

  /** Stops waiting for responses. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#notifications.stop();
    await this.#polling;
  }

  #schedule(): void {
    if (this.#timer || this.#stopped || this.#waiting.size === 0) return;
    const ms = this.#notifications.listening ? POLL_INTERVAL_MS.listening : POLL_INTERVAL_MS.unnotified;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#poll(true);
    }, ms).unref();
  }

  /** Collects responses, with one query at a time. A call during a query triggers another one afterwards. */
  #poll(checksMissing = false): Promise<void> {
    if (this.#polling) this.#mustRepeat = true;
    else {
      this.#polling = this.#collect(checksMissing).finally(() => {
        this.#polling = undefined;
        const mustRepeat = this.#mustRepeat && !this.#stopped;
        this.#mustRepeat = false;
        if (mustRepeat) void this.#poll();
        else this.#schedule();
      });
    }
    return this.#polling ?? Promise.resolve();
  }

  async #collect(checksMissing: boolean): Promise<void> {
    if (this.#waiting.size === 0 || this.#stopped) return;
    try {
      const requestedIds = [...this.#waiting.keys()];
      const responses = await this.#requests.collect(this.#id);
      for (const { id, result } of responses) for (const waiting of this.#waiting.get(id) ?? []) waiting.report(result);
      if (checksMissing && Date.now() - this.#lastMissingCheckAt >= MISSING_CHECK_INTERVAL_MS)
        await this.#repeatMissing(requestedIds);
    } catch (error) {
      // An unavailable database is polled again, and so is one that rolled back this query because of a deadlock. Any
      // other error fails the waiting requests.
      const databaseFailure = databaseError(error);
      const { code = '' } = error as { code?: string };
      if (databaseFailure !== error || code === 'DATABASE_UNAVAILABLE' || CONFLICT_CODES.has(code)) return;
      for (const waiters of this.#waiting.values()) for (const { fail } of waiters) fail(error);
    }
  }

  /**
   * Repeats requests that no longer exist, because another process collected the response or the database lost them in
   * a crash.
   */
  async #repeatMissing(ids: readonly string[]): Promise<void> {
    this.#lastMissingCheckAt = Date.now();
    for (const id of await this.#requests.findMissing(ids)) {
      const [waiting] = this.#waiting.get(id) ?? [];
      if (waiting) await this.#postBatches.add(waiting.request);
    }
  }
}
