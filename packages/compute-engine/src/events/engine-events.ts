import { randomUUID } from 'node:crypto';
import type { Store, Tx } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Context } from '../core/context.js';
import type { Server } from '../model/index.js';
import type { EngineObserver, QuotaRefused } from '../observation/observer.js';
import { updatePayload } from './instance-payload.js';
import { type InstanceStep, stepPayload } from './instance-step.js';
import { envelopeTime, type Notification, type NotificationObject, notificationObject } from './notification.js';
import { Outbox, type ToldEvent } from './outbox.js';
import { wantedTypes } from './wanted-types.js';
import { namedWebhooks, Webhook, type WebhookOptions } from './webhook.js';

/** Of `createEngine({ events })`: that events are kept at all, for how long, and who is told of them. */
export interface EventOptions {
  /** Who is told of events over HTTP. */
  readonly webhooks?: readonly WebhookOptions[];
  /** How long events are kept, also those that a webhook has not taken. Default: seven days. */
  readonly keepMs?: number;
}

/** Hears of an event. What it throws is told to the engine's `onError`. */
export type EventListener = (event: Notification) => void;

const KEEP_MS = 7 * 86_400_000;
/** How often to look for events of other processes, and for what is too old. */
const LOOK_MS = 1000;
const PURGE_EVERY = 60;
/** The same refusal is told once in so long; a client that keeps asking would fill the table. */
const REFUSAL_MS = 10_000;
const MOST_REFUSALS = 500;

function sameTags({ tags: before }: Server, { tags: after }: Server): boolean {
  return before === after || (before.length === after.length && before.every((tag, index) => tag === after[index]));
}

/**
 * What happens in an engine, told to whoever listens: functions of this process, webhooks, and readers of the stream.
 * With options, events are written in the transactions of what they tell, and told once these are durable; where there
 * are none and nobody listens in this process, nothing is done at all.
 */
export class EngineEvents {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #keepMs: number;
  readonly #dropped: EngineObserver['eventsDropped'];
  readonly #outbox: Outbox | undefined;
  readonly #webhooks: readonly Webhook[];
  readonly #listeners = new Set<{ readonly wants: (type: string) => boolean; readonly hear: EventListener }>();
  readonly #readers = new Set<() => void>();
  /** Refusals that are still to be written down, and when each was last told. */
  readonly #refusals: Notification[] = [];
  readonly #refusedAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #readable = true;

  constructor(
    store: Store,
    clock: Clock,
    options: EventOptions | undefined,
    onError: (error: unknown) => void,
    dropped?: EngineObserver['eventsDropped'],
  ) {
    this.#store = store;
    this.#dropped = dropped;
    this.#clock = clock;
    this.#onError = onError;
    this.#keepMs = options?.keepMs ?? KEEP_MS;
    const outbox = options && new Outbox(store);
    this.#outbox = outbox;
    this.#webhooks = outbox
      ? [...namedWebhooks(options.webhooks ?? [])].map(([name, webhook]) => new Webhook(name, webhook, outbox, onError))
      : [];
  }

  /** Whether events are written down, so that there is something to read. */
  get kept(): boolean {
    return this.#outbox !== undefined;
  }

  /** Whether there is anybody to tell. */
  get active(): boolean {
    return this.#outbox !== undefined || this.#listeners.size > 0;
  }

  async start(): Promise<void> {
    if (!this.#outbox) return;
    for (const { name } of this.#webhooks) await this.#outbox.join(name);
    this.#timer = setInterval(() => this.#wake(), LOOK_MS).unref();
    this.#wake();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    this.#stopped = true;
    for (const webhook of this.#webhooks) await webhook.stop();
    this.endReading();
  }

  /** Ends every `read()`, and those that come: readers go on at another process, while this one takes leave. */
  endReading(): void {
    this.#readable = false;
    for (const resolve of this.#readers) resolve();
  }

  /** Hears, in this process, of what this process has done. Gives what ends it. */
  on(type: string, hear: EventListener): () => void {
    const listener = { wants: wantedTypes([type]), hear };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Events of all processes behind a place, in order, as long as anybody reads. Without options there are none.
   *
   * @param after the place; left out: from now on
   */
  async *read(after: number | undefined, signal: AbortSignal): AsyncGenerator<readonly ToldEvent[]> {
    if (!this.#outbox) return;
    let position = after ?? (await this.#outbox.last());
    while (!signal.aborted && this.#readable) {
      const looks = this.#looks;
      const events = await this.#outbox.after(position);
      const last = events.at(-1);
      if (last) {
        position = last.position;
        yield events;
      } else if (looks === this.#looks) await this.#news(signal);
    }
  }

  /** A server was made or changed: its state, its task, its name or its tags. */
  async changed(tx: Tx, before: Server | undefined, after: Server, context: Context | undefined): Promise<void> {
    if (!this.active) return;
    const same = before && before.vmState === after.vmState && before.taskState === after.taskState;
    if (same && before.name === after.name && sameTags(before, after)) return;
    await this.#tell(tx, 'instance.update', 'INFO', after, updatePayload(before, after, context));
  }

  /** A step of what is done to a server has begun, has ended, or has failed. */
  async stepped(tx: Tx, step: InstanceStep, context: Context, args?: unknown): Promise<void> {
    if (!this.active) return;
    const { name, phase, server } = step;
    const type = `instance.${name}${phase ? `.${phase}` : ''}`;
    await this.#tell(tx, type, phase === 'error' ? 'ERROR' : 'INFO', server, stepPayload(step, context, args));
  }

  /** A request was refused for want of room. Nothing was changed with which this could be written down. */
  refused({ projectId, userId, exceeded }: QuotaRefused): void {
    if (!this.active) return;
    const key = [projectId, userId, ...exceeded.map(({ kind }) => kind)].join(' ');
    const now = Date.now();
    if (now - (this.#refusedAt.get(key) ?? 0) < REFUSAL_MS) return;
    if (this.#refusedAt.size >= MOST_REFUSALS) this.#refusedAt.clear();
    this.#refusedAt.set(key, now);
    const data = { tenant_id: projectId, user_id: userId, exceeded };
    const event = this.#event(
      'quota.refused',
      'ERROR',
      'nova-api',
      notificationObject('QuotaRefusedPayload', '1.0', data),
    );
    this.#hear(event);
    if (!this.#outbox || this.#refusals.length >= MOST_REFUSALS) return;
    this.#refusals.push(event);
    this.#wake();
  }

  async #tell(
    tx: Tx,
    type: string,
    priority: Notification['priority'],
    server: Server,
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
      this.#hear(event);
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
      timestamp: envelopeTime(this.#clock.now()),
      payload,
    };
  }

  #hear(event: Notification): void {
    for (const { wants, hear } of this.#listeners) {
      if (!wants(event.event_type)) continue;
      try {
        hear(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Resolves with the next events, or when nobody waits any more. */
  #news(signal: AbortSignal): Promise<void> {
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

  /** One look at a time; what comes meanwhile is looked at after it. */
  #wake(): void {
    if (!this.#outbox || this.#stopped) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = this.#look(this.#outbox)
      .catch(this.#onError)
      .finally(() => {
        this.#looking = undefined;
        if (!this.#again) return;
        this.#again = false;
        this.#wake();
      });
  }

  async #look(outbox: Outbox): Promise<void> {
    for (let [event] = this.#refusals; event; [event] = this.#refusals) {
      await this.#store.transaction((tx) => outbox.add(tx, event, null));
      this.#refusals.shift();
    }
    while (await outbox.order());
    for (const webhook of this.#webhooks) webhook.wake();
    // Places may have been given by another process: whoever reads looks for itself.
    for (const resolve of this.#readers) resolve();
    if (this.#looks++ % PURGE_EVERY === 0) while (await this.#purge(outbox));
  }

  /** Removes what is too old, and says of which webhooks that was too early. True when there may be more. */
  async #purge(outbox: Outbox): Promise<boolean> {
    const { gone, places, more } = await outbox.purge(Date.now() - this.#keepMs);
    for (const webhook of this.#webhooks) {
      const count = webhook.missed(gone, places.get(webhook.name) ?? 0);
      if (count > 0) this.#dropped?.({ webhook: webhook.host, count });
    }
    return more;
  }
}
