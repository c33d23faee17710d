import { createHmac, randomUUID } from 'node:crypto';
import { groupBy } from '../core/group-by.js';
import { EngineError } from '../errors/engine-error.js';
import type { DeadLetters } from './dead-letters.js';
import type { Outbox, StoredEvent } from './outbox.js';
import { subscribedTypes } from './subscribed-types.js';
import { type NamedWebhook, parseWebhookTarget, type WebhookTarget } from './webhook-options.js';

const DEFAULT_TIMEOUT_MS = 10_000;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 300_000;
const DEFAULT_ATTEMPTS = 20;

/** HTTP statuses with which a receiver rejects all requests for a while, rather than a single event. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Maximum number of events in a batch. */
const BATCH_SIZE = 50;
/** Number of servers whose events are sent concurrently. */
const MAX_CONCURRENT_QUEUES = 8;

/**
 * Returns the `webhook-signature` of a body according to the Standard Webhooks specification, for receivers that verify
 * it.
 *
 * @param secret the secret of the webhook, as in {@link WebhookOptions}
 * @param id the request's `webhook-id`
 * @param timestamp the request's `webhook-timestamp`, in seconds since the epoch
 *
 * @example
 * ```ts
 * import { timingSafeEqual } from 'node:crypto';
 * import { signatureOf } from '@apistrata/compute-engine/events';
 *
 * export function isGenuine(headers: Headers, body: string, secret: string): boolean {
 *   const timestamp = Number(headers.get('webhook-timestamp'));
 *   const expected = signatureOf(secret, headers.get('webhook-id') ?? '', timestamp, body);
 *   const given = headers.get('webhook-signature') ?? '';
 *   const fresh = Math.abs(Date.now() / 1000 - timestamp) < 300;
 *   return fresh && given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
 * }
 * ```
 */
export function signatureOf(secret: string, id: string, timestamp: number, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Thrown if the receiver does not accept an event. */
class WebhookRejected extends EngineError<'WEBHOOK_REJECTED'> {
  constructor(
    host: string,
    readonly responseStatus: number,
    type: string,
  ) {
    super('WEBHOOK_REJECTED', `the webhook ${host} returned ${responseStatus} for ${type}`);
  }
}

/** The dependencies of a webhook. */
export interface WebhookDependencies {
  readonly outbox: Outbox;
  readonly deadLetters: DeadLetters;
  readonly onError: (error: unknown) => void;
  /** Called for each event that became a dead letter. */
  readonly rejected?: (event: { readonly webhook: string; readonly type: string }) => void;
}

/**
 * Sends events to one receiver. Retries each event until it is accepted or becomes a dead letter. Preserves the order
 * of each server's events.
 */
export class Webhook {
  /** The name under which the webhook's position is stored. */
  readonly name: string;
  readonly #options: NamedWebhook;
  readonly #target: WebhookTarget;
  readonly #dependencies: WebhookDependencies;
  readonly #owner = randomUUID();
  readonly #stopController = new AbortController();
  readonly #accepts: (type: string) => boolean;
  /** Events of the current batch that need not be sent again. */
  readonly #acknowledged = new Set<string>();
  /** How often each event of the current batch was rejected. */
  readonly #rejectionCounts = new Map<string, number>();
  /** Duration of the lease that prevents other processes from sending. */
  readonly #leaseMs: number;
  #leaseUntil = 0;
  #failures = 0;
  #notBefore = 0;
  #sending: Promise<void> | undefined;

  constructor(options: NamedWebhook, dependencies: WebhookDependencies) {
    this.name = options.name;
    this.#options = options;
    this.#target = parseWebhookTarget(options.url);
    this.#dependencies = dependencies;
    this.#accepts = subscribedTypes(options.types);
    this.#leaseMs = 3 * (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  /** The host of the webhook's URL. Unlike the URL, it contains no secrets. */
  get host(): string {
    return this.#target.host;
  }

  /** Stores the position of a new webhook, which starts after the last event. */
  join(): Promise<void> {
    return this.#dependencies.outbox.registerListener(this.name, this.#options.formerName);
  }

  /** Returns how many of the deleted events this webhook still had to send. */
  countMissedEvents(
    events: readonly { readonly position: number | null; readonly type: string }[],
    position: number,
  ): number {
    return events.filter(
      (event) => (event.position ?? Number.POSITIVE_INFINITY) > position && this.#accepts(event.type),
    ).length;
  }

  /** Sends pending events, unless this webhook is already sending or waiting before a retry. */
  wake(): void {
    if (this.#sending || this.#stopController.signal.aborted || performance.now() < this.#notBefore) return;
    this.#sending = this.#send()
      .catch((error) => this.#backOff(error))
      .finally(() => {
        this.#sending = undefined;
      });
  }

  async stop(): Promise<void> {
    this.#stopController.abort();
    await this.#sending;
    await this.#dependencies.outbox.release(this.name, this.#owner).catch(this.#dependencies.onError);
  }

  async #send(): Promise<void> {
    const { outbox } = this.#dependencies;
    let position = await this.#acquire();
    if (position === undefined) return;
    await this.#sendDueDeadLetters();
    while (!this.#stopController.signal.aborted) {
      const events = await outbox.eventsAfter(position, BATCH_SIZE);
      const last = events.at(-1);
      if (!last) return;
      await this.#sendAll(events.filter(({ id, type }) => this.#accepts(type) && !this.#acknowledged.has(id)));
      position = last.position;
      if (!(await outbox.advance(this.name, this.#owner, position))) return;
      this.#acknowledged.clear();
      this.#rejectionCounts.clear();
      this.#failures = 0;
    }
  }

  /** Makes one attempt for each dead letter that an administrator has requested to be sent again. */
  async #sendDueDeadLetters(): Promise<void> {
    const { deadLetters } = this.#dependencies;
    for (const { number, attempts, event } of await deadLetters.listDue(this.name)) {
      try {
        await this.#post(event);
        await deadLetters.remove(number);
      } catch (error) {
        if (this.#stopController.signal.aborted) throw error;
        await deadLetters.add(this.name, event, failureReason(error), attempts + 1);
      }
    }
  }

  #acquire(): Promise<number | undefined> {
    this.#leaseUntil = Date.now() + this.#leaseMs;
    return this.#dependencies.outbox.acquire(this.name, this.#owner, this.#leaseUntil);
  }

  /**
   * Renews the lease. A lease lasts longer than any request, so two processes never send the same events concurrently.
   */
  async #renewLease(): Promise<void> {
    if (Date.now() < this.#leaseUntil - this.#leaseMs / 2) return;
    if ((await this.#acquire()) === undefined) throw new Error('another process now sends the events of this webhook');
  }

  /** Sends events of one server in order, and events of different servers concurrently. */
  async #sendAll(events: readonly StoredEvent[]): Promise<void> {
    const queues = [...groupBy(events, (event) => event.serverId ?? event.id).values()];
    const failedQueues: { readonly queue: readonly StoredEvent[]; readonly error: unknown }[] = [];
    const initialAcknowledgedCount = this.#acknowledged.size;
    const sendQueues = async (): Promise<void> => {
      for (let queue = queues.shift(); queue && !this.#stopController.signal.aborted; queue = queues.shift())
        await this.#sendQueue(queue).catch((error) => failedQueues.push({ queue, error }));
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_QUEUES }, sendQueues));
    if (this.#stopController.signal.aborted) throw this.#stopController.signal.reason;
    const isAvailable = this.#acknowledged.size > initialAcknowledgedCount;
    const errors: unknown[] = [];
    for (const { queue, error } of failedQueues)
      if (!(await this.#recordFailedAttempt(queue, error, isAvailable))) errors.push(error);
    if (errors.length > 0) throw errors[0];
    // Once an event is a dead letter, later events of the same server are sent.
    const unsentEvents = events.filter(({ id }) => !this.#acknowledged.has(id));
    if (unsentEvents.length > 0) await this.#sendAll(unsentEvents);
  }

  async #sendQueue(queue: readonly StoredEvent[]): Promise<void> {
    for (const event of queue) {
      if (this.#acknowledged.has(event.id)) continue;
      await this.#post(event);
      this.#acknowledged.add(event.id);
    }
  }

  /**
   * Counts a failed attempt to send the first unaccepted event of one server, whose events are sent in order. After the
   * last attempt, stores the event as a dead letter and returns true.
   *
   * @param isAvailable whether the receiver is available, because it accepted other events in the meantime
   */
  async #recordFailedAttempt(queue: readonly StoredEvent[], error: unknown, isAvailable: boolean): Promise<boolean> {
    const event = queue.find(({ id }) => !this.#acknowledged.has(id));
    const isCounted =
      isAvailable || (error instanceof WebhookRejected && !UNAVAILABLE_STATUSES.has(error.responseStatus));
    if (!event || !isCounted) return false;
    const attempts = (this.#rejectionCounts.get(event.id) ?? 0) + 1;
    this.#rejectionCounts.set(event.id, attempts);
    if (attempts < (this.#options.attempts ?? DEFAULT_ATTEMPTS)) return false;
    await this.#dependencies.deadLetters.add(this.name, event, failureReason(error), attempts);
    this.#acknowledged.add(event.id);
    this.#dependencies.rejected?.({ webhook: this.host, type: event.type });
    this.#dependencies.onError(error);
    return true;
  }

  async #post({ id, type, body }: StoredEvent): Promise<void> {
    const { secret, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const { url, authorization, host } = this.#target;
    await this.#renewLease();
    const timestamp = Math.floor(Date.now() / 1000);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Apistrata-Webhook',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(secret, id, timestamp, body),
        ...(authorization !== undefined && { authorization }),
      },
      body,
      redirect: 'error',
      signal: AbortSignal.any([this.#stopController.signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new WebhookRejected(host, response.status, type);
  }

  /** Starts the backoff, which doubles with each failure. */
  #backOff(error: unknown): void {
    if (this.#stopController.signal.aborted) return;
    this.#notBefore = performance.now() + Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures++, MAX_BACKOFF_MS);
    this.#dependencies.onError(error);
  }
}

/** Returns the reason why a request failed, including the cause that the message "fetch failed" omits. */
function failureReason(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message;
}
