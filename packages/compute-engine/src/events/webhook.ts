import { createHmac, randomUUID } from 'node:crypto';
import { groupBy } from '../core/group-by.js';
import type { Outbox, ToldEvent } from './outbox.js';
import { wantedTypes } from './wanted-types.js';

/** Somebody who is told of events over HTTP. */
export interface WebhookOptions {
  /** Where each event is sent as a `POST`. */
  readonly url: string;
  /** What requests are signed with; one that begins with `whsec_` is in base64 behind that. At least 24 characters. */
  readonly secret: string;
  /** At most 32 types of at most 255 characters, `*` standing for anything: `instance.create.*`. Default: all. */
  readonly types?: readonly string[];
  /** How long an answer may take. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Under what its place among the events is kept: a webhook with a new name hears of what happens from then on. Default:
   * its URL, and for further webhooks of the same URL their types beside it.
   */
  readonly name?: string;
}

/** Webhooks by their names, in their order. Throws a TypeError where two would share a place. */
export function namedWebhooks(webhooks: readonly WebhookOptions[]): ReadonlyMap<string, WebhookOptions> {
  const named = new Map<string, WebhookOptions>();
  for (const webhook of webhooks) {
    const { url, types = ['*'] } = webhook;
    const name = webhook.name ?? (named.has(url) ? `${url} ${types.toSorted().join(',')}` : url);
    if (named.has(name))
      throw new TypeError(`createEngine(): two webhooks have the name ${JSON.stringify(name)}; give each its own`);
    named.set(name, webhook);
  }
  return named;
}

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

/** Events that are read at once, and servers whose events are sent at the same time. */
const BATCH = 50;
const AT_ONCE = 8;

/**
 * `webhook-signature` of a body, as the Standard Webhooks specification has it: for receivers that check it.
 *
 * @param secret of the webhook, as in {@link WebhookOptions}
 * @param id the request's `webhook-id`
 * @param timestamp the request's `webhook-timestamp`, in seconds since the epoch
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

/** Sends events to one place: each until it is taken, those of one server one after the other. */
export class Webhook {
  /** Under what its place is kept. */
  readonly name: string;
  readonly #options: WebhookOptions;
  readonly #outbox: Outbox;
  readonly #onError: (error: unknown) => void;
  readonly #owner = randomUUID();
  readonly #ending = new AbortController();
  readonly #wants: (type: string) => boolean;
  /** Of the batch at hand: what needs not be sent again. */
  readonly #taken = new Set<string>();
  /** How long a process that shows no life keeps others from telling. */
  readonly #leaseMs: number;
  #leaseUntil = 0;
  #failures = 0;
  #notBefore = 0;
  #sending: Promise<void> | undefined;

  constructor(name: string, options: WebhookOptions, outbox: Outbox, onError: (error: unknown) => void) {
    this.name = name;
    this.#options = options;
    this.#outbox = outbox;
    this.#onError = onError;
    this.#wants = wantedTypes(options.types);
    this.#leaseMs = 3 * (options.timeoutMs ?? TIMEOUT_MS);
  }

  /** The host that it is told to, which unlike the URL may be shown to anybody. */
  get host(): string {
    return new URL(this.#options.url).host;
  }

  /** How many of events that are gone it would still have had to be told. */
  missed(gone: readonly { readonly position: number | null; readonly type: string }[], position: number): number {
    return gone.filter((event) => (event.position ?? Number.POSITIVE_INFINITY) > position && this.#wants(event.type))
      .length;
  }

  /** Sends what there is, unless that is under way or a pause is. */
  wake(): void {
    if (this.#sending || this.#ending.signal.aborted || performance.now() < this.#notBefore) return;
    this.#sending = this.#send()
      .catch((error) => this.#pause(error))
      .finally(() => {
        this.#sending = undefined;
      });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#sending;
    await this.#outbox.release(this.name, this.#owner).catch(this.#onError);
  }

  async #send(): Promise<void> {
    let position = await this.#take();
    while (position !== undefined && !this.#ending.signal.aborted) {
      const events = await this.#outbox.after(position, BATCH);
      const last = events.at(-1);
      if (!last) return;
      await this.#sendAll(events.filter(({ id, type }) => this.#wants(type) && !this.#taken.has(id)));
      position = last.position;
      if (!(await this.#outbox.advance(this.name, this.#owner, position))) return;
      this.#taken.clear();
      this.#failures = 0;
    }
  }

  #take(): Promise<number | undefined> {
    this.#leaseUntil = Date.now() + this.#leaseMs;
    return this.#outbox.take(this.name, this.#owner, this.#leaseUntil);
  }

  /** Whoever sends holds the lease for longer than sending may take: no two processes tell the same place at once. */
  async #keep(): Promise<void> {
    if (Date.now() < this.#leaseUntil - this.#leaseMs / 2) return;
    if ((await this.#take()) === undefined) throw new Error('another process tells this webhook now');
  }

  /** Events of one server in their order, several servers side by side. */
  async #sendAll(events: readonly ToldEvent[]): Promise<void> {
    const lines = [...groupBy(events, (event) => event.serverId ?? event.id).values()];
    const errors: unknown[] = [];
    const next = async (): Promise<void> => {
      for (let line = lines.shift(); line && !this.#ending.signal.aborted; line = lines.shift()) {
        try {
          for (const event of line) await this.#post(event);
        } catch (error) {
          errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    if (this.#ending.signal.aborted) throw this.#ending.signal.reason;
    if (errors.length > 0) throw errors[0];
  }

  async #post({ id, type, body }: ToldEvent): Promise<void> {
    const { url, secret, timeoutMs = TIMEOUT_MS } = this.#options;
    await this.#keep();
    const timestamp = Math.floor(Date.now() / 1000);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(secret, id, timestamp, body),
      },
      body,
      redirect: 'error',
      signal: AbortSignal.any([this.#ending.signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook ${this.host} answered ${response.status} to ${type}`);
    this.#taken.add(id);
  }

  /** Until the next try: each time twice as long. */
  #pause(error: unknown): void {
    if (this.#ending.signal.aborted) return;
    this.#notBefore = performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LONGEST_PAUSE_MS);
    this.#onError(error);
  }
}
