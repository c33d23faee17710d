import { randomUUID } from 'node:crypto';
import type { Store, Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Context } from '../core/context.js';
import type { New, Server } from '../model/index.js';
import type { EngineObserver, QuotaRejection } from '../observation/observer.js';
import { DeadLetters } from './dead-letters.js';
import { updatePayload } from './instance-payload.js';
import { type InstanceStep, stepPayload } from './instance-step.js';
import { formatEnvelopeTime, type Notification, type NotificationObject, notificationObject } from './notification.js';
import { Outbox, type StoredEvent } from './outbox.js';
import { subscribedTypes } from './subscribed-types.js';
import { Webhook } from './webhook.js';
import { nameWebhooks, type WebhookOptions } from './webhook-options.js';

/** The `events` option of `createEngine()`: retention and webhooks. */
export interface EventOptions {
  /** Subscribers that receive events over HTTP. */
  readonly webhooks?: readonly WebhookOptions[];
  /** Milliseconds for which events and dead letters are kept, even undelivered ones. Default: seven days. */
  readonly keepMs?: number;
}

/** Receives an event. Errors are reported to the engine's `onError`. */
export type EventListener = (event: Notification) => void;

const DEFAULT_RETENTION_MS = 7 * 86_400_000;
/** Polling interval for events that other processes have stored. */
const POLL_INTERVAL_MS = 1000;
const POLLS_PER_PURGE = 60;
/** Delay before new events are ordered, so that the events of a request and of its job are ordered together. */
const ORDER_DELAY_MS = 5;
/** Minimum interval between events for the same rejection, so that repeated requests cannot fill the table. */
const REJECTION_INTERVAL_MS = 10_000;
const MAX_PENDING_REJECTIONS = 500;

function haveSameTags({ tags: before }: New<Server>, { tags: after }: New<Server>): boolean {
  return before === after || (before.length === after.length && before.every((tag, index) => tag === after[index]));
}

/**
 * Emits notifications about state changes to listeners in this process, webhooks, and readers of the event stream. With
 * `options`, events are stored in the transactions that cause them, and sent after the commit. Without `options` and
 * listeners, emitting is a no-op.
 */
export class EngineEvents {
  /** Events that webhooks did not accept. */
  readonly deadLetters: DeadLetters;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #retentionMs: number;
  readonly #onDropped: EngineObserver['eventsDropped'];
  readonly #outbox: Outbox | undefined;
  readonly #webhooks: readonly Webhook[];
  readonly #listeners = new Set<{ readonly accepts: (type: string) => boolean; readonly receive: EventListener }>();
  readonly #readers = new Set<() => void>();
  /** Quota rejections that are not stored yet. */
  readonly #rejections: Notification[] = [];
  /** The time at which each rejection was last emitted, by project, user and quota kinds. */
  readonly #rejectedAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #polls = 0;
  #polling: Promise<void> | undefined;
  /** Whether another poll must follow the current one. */
  #mustRepeat = false;
  /** Whether this process has stored events since it last assigned positions. */
  #hasNewEvents = false;
  #stopped = false;
  #isReadable = true;

  constructor(
    store: Store,
    clock: Clock,
    options: EventOptions | undefined,
    onError: (error: unknown) => void,
    observer: Pick<EngineObserver, 'eventsDropped' | 'eventRejected'> = {},
  ) {
    this.#store = store;
    this.deadLetters = new DeadLetters(store);
    this.#onDropped = observer.eventsDropped;
    this.#clock = clock;
    this.#onError = onError;
    this.#retentionMs = options?.keepMs ?? DEFAULT_RETENTION_MS;
    const outbox = options && new Outbox(store);
    this.#outbox = outbox;
    const { deadLetters } = this;
    this.#webhooks = outbox
      ? nameWebhooks(options.webhooks ?? []).map(
          (webhook) => new Webhook(webhook, { outbox, deadLetters, onError, rejected: observer.eventRejected }),
        )
      : [];
  }

  /** Whether events are stored, so that `read()` can return them. */
  get isRetained(): boolean {
    return this.#outbox !== undefined;
  }

  /** Whether any subscriber exists. */
  get isActive(): boolean {
    return this.#outbox !== undefined || this.#listeners.size > 0;
  }

  async start(): Promise<void> {
    if (!this.#outbox) return;
    for (const webhook of this.#webhooks) await webhook.join();
    this.#timer = setInterval(() => this.#wake(), POLL_INTERVAL_MS).unref();
    this.#wake();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
    this.#stopped = true;
    for (const webhook of this.#webhooks) await webhook.stop();
    this.endReading();
  }

  /** Ends every current and future `read()`, so that readers switch to another process while this one shuts down. */
  endReading(): void {
    this.#isReadable = false;
    for (const resolve of this.#readers) resolve();
  }

  /** Subscribes to changes that this process has committed. Returns a function that unsubscribes. */
  on(type: string, receive: EventListener): () => void {
    const listener = { accepts: subscribedTypes([type]), receive };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Yields the events of all processes after a position, in order, until the signal is aborted. Without the option
   * `events`, yields none.
   *
   * @param after the position; default: the position of the last event
   */
  async *read(after: number | undefined, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[]> {
    if (!this.#outbox) return;
    let position = after ?? (await this.#outbox.lastPosition());
    while (!signal.aborted && this.#isReadable) {
      const polls = this.#polls;
      const events = await this.#outbox.eventsAfter(position);
      const last = events.at(-1);
      if (last) {
        position = last.position;
        yield events;
      } else if (polls === this.#polls) await this.#waitForNewEvents(signal);
    }
  }

  /** Emits an event if a server was created, or if its state, task, name or tags have changed. */
  async emitState(tx: Tx, before: Server | undefined, after: New<Server>, context: Context | undefined): Promise<void> {
    if (!this.isActive) return;
    const isSameState = before && before.vmState === after.vmState && before.taskState === after.taskState;
    if (isSameState && before.name === after.name && haveSameTags(before, after)) return;
    await this.#emit(tx, 'instance.update', 'INFO', after, updatePayload(before, after, context));
  }

  /** Emits an event for the start, end or failure of an action step. */
  async emitStep(tx: Tx, step: InstanceStep, context: Context, args?: unknown): Promise<void> {
    if (!this.isActive) return;
    const { name, phase, server } = step;
    const type = `instance.${name}${phase ? `.${phase}` : ''}`;
    await this.#emit(tx, type, phase === 'error' ? 'ERROR' : 'INFO', server, stepPayload(step, context, args));
  }

  /**
   * Emits an event for a request that exceeded a quota. No transaction is committed, so the event is stored later.
   */
  emitRejection({ projectId, userId, exceeded }: QuotaRejection): void {
    if (!this.isActive) return;
    const key = [projectId, userId, ...exceeded.map(({ kind }) => kind)].join(' ');
    const now = Date.now();
    if (now - (this.#rejectedAt.get(key) ?? 0) < REJECTION_INTERVAL_MS) return;
    if (this.#rejectedAt.size >= MAX_PENDING_REJECTIONS) this.#rejectedAt.clear();
    this.#rejectedAt.set(key, now);
    const data = { tenant_id: projectId, user_id: userId, exceeded };
    const event = this.#event(
      'quota.exceeded',
      'ERROR',
      'nova-api',
      notificationObject('QuotaExceededPayload', '1.0', data),
    );
    this.#deliver(event);
    if (!this.#outbox || this.#rejections.length >= MAX_PENDING_REJECTIONS) return;
    this.#rejections.push(event);
    this.#hasNewEvents = true;
    this.#wake();
  }

  async #emit(
    tx: Tx,
    type: string,
    priority: Notification['priority'],
    server: New<Server>,
    payload: NotificationObject,
  ): Promise<void> {
    const event = this.#event(
      type,
      priority,
      server.host === null ? 'nova-api' : `nova-compute:${server.host}`,
      payload,
    );
    await this.#outbox?.add(tx, event, server.id);
    tx.afterCommit(() => {
      this.#deliver(event);
      this.#hasNewEvents = true;
      this.#wake();
    });
  }

  #event(
    type: string,
    priority: Notification['priority'],
    publisher: string,
    payload: NotificationObject,
  ): Notification {
    return {
      message_id: randomUUID(),
      publisher_id: publisher,
      event_type: type,
      priority,
      timestamp: formatEnvelopeTime(this.#clock.now()),
      payload,
    };
  }

  #deliver(event: Notification): void {
    for (const { accepts, receive } of this.#listeners) {
      if (!accepts(event.event_type)) continue;
      try {
        receive(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Resolves when new events may exist, or when the signal is aborted. */
  #waitForNewEvents(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#readers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#readers.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /** Runs one poll at a time. A call during a poll triggers another one afterwards. */
  #wake(): void {
    if (!this.#outbox || this.#stopped) return;
    if (this.#polling) {
      this.#mustRepeat = true;
      return;
    }
    this.#polling = this.#poll(this.#outbox)
      .catch(this.#onError)
      .finally(() => {
        this.#polling = undefined;
        if (!this.#mustRepeat) return;
        this.#mustRepeat = false;
        this.#wake();
      });
  }

  async #poll(outbox: Outbox): Promise<void> {
    if (this.#hasNewEvents) await new Promise((resolve) => setTimeout(resolve, ORDER_DELAY_MS));
    const mayHaveNewEvents = this.#hasNewEvents;
    this.#hasNewEvents = this.#mustRepeat = false;
    for (let [event] = this.#rejections; event; [event] = this.#rejections) {
      await this.#store.transaction((tx) => outbox.add(tx, event, null));
      this.#rejections.shift();
    }
    if (mayHaveNewEvents || (await outbox.hasUnorderedEvents())) while (await outbox.orderNewEvents());
    for (const webhook of this.#webhooks) webhook.wake();
    // Another process may have assigned positions to new events, so all readers are woken.
    for (const resolve of this.#readers) resolve();
    if (this.#polls++ % POLLS_PER_PURGE === 0) while (await this.#purge(outbox));
  }

  /**
   * Deletes expired events, and reports those that webhooks had not accepted. Returns whether more expired events may
   * exist.
   */
  async #purge(outbox: Outbox): Promise<boolean> {
    const before = Date.now() - this.#retentionMs;
    await this.deadLetters.purge(before);
    const { events, positions, hasMore } = await outbox.purge(before);
    for (const webhook of this.#webhooks) {
      const count = webhook.countMissedEvents(events, positions.get(webhook.name) ?? 0);
      if (count > 0) this.#onDropped?.({ webhook: webhook.host, count });
    }
    return hasMore;
  }
}
