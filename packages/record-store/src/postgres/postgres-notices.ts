import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { sql } from 'kysely';
import type { Session } from '../store/database.js';
import { postgresAddresses } from './postgres-addresses.js';

/** A connection of `pg` that does nothing but listen. */
interface Listener {
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  end(): Promise<void>;
  on(event: 'notification', hear: (notice: { readonly payload?: string }) => void): unknown;
  on(event: 'error' | 'end', hear: () => void): unknown;
}

export interface NoticesOptions {
  /** `postgres://...` */
  readonly url: string;
  /** The pool by which it is found out whether notices arrive. */
  readonly session: Session;
  /** Who is told: any text. */
  readonly receiver: string;
  /** Told of each notice; '' when some may have been missed. */
  readonly hear: (payload: string) => void;
}

const PROBE = 'probe ';
const PROBE_MS = 5_000;
const CHECK_MS = 20_000;
const LONGEST_PAUSE_MS = 30_000;
const FIRST_PAUSE_MS = 250;

/** The SQL of the channel on which a receiver listens. Names of channels are short and plain, those of receivers are not. */
export const channelOf = (receiver: unknown) => sql<string>`'apistrata_' || md5(${receiver})`;

/**
 * Notices of PostgreSQL to one receiver, by a connection of their own that is made again when it breaks. They only say that
 * there is something to read: whoever uses them looks by himself too, more often while `listening` is false. Behind a pooler
 * that shares connections between transactions nothing ever arrives, which a probe finds out.
 */
export class Notices {
  readonly #options: NoticesOptions;
  #client: Listener | undefined;
  #probe: { readonly nonce: string; readonly heard: () => void } | undefined;
  #listening = false;
  #stopped = false;
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Whether notices are known to arrive. */
  get listening(): boolean {
    return this.#listening;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#leave();
    await this.#running;
  }

  /**
   * Asks the database for one text by the connection that listens: the server hands over what it has to tell before it
   * answers, so every notice that was acknowledged to its sender before this call has been heard when it resolves.
   * Undefined where notices are not known to arrive.
   */
  async ask(text: string): Promise<string | undefined> {
    const client = this.#client;
    if (!client || !this.#listening) return undefined;
    const { rows } = await client.query(text);
    const [answer] = Object.values(rows[0] ?? {});
    return this.#client === client && this.#listening ? String(answer) : undefined;
  }

  async #run(): Promise<void> {
    const addresses = postgresAddresses(this.#options.url);
    for (let failures = 0; !this.#stopped; failures++) {
      try {
        // Of several hosts those that follow another one refuse to listen.
        await this.#connect(addresses[failures % addresses.length]!);
        while (!this.#stopped && (await this.#arrives())) {
          failures = 0;
          if (!this.#listening) {
            this.#listening = true;
            this.#options.hear('');
          }
          await this.#pause(CHECK_MS);
          if (!this.#client) break;
        }
      } catch {
        // The database is away, or refuses: whoever wants something of it hears why.
      }
      await this.#leave();
      if (!this.#stopped) await this.#pause(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS));
    }
  }

  async #connect(address: string): Promise<void> {
    const pg = createRequire(import.meta.url)('pg');
    const { session, receiver, hear } = this.#options;
    const client: Listener = new pg.Client({
      connectionString: address,
      keepAlive: true,
      connectionTimeoutMillis: PROBE_MS,
      query_timeout: PROBE_MS,
      fallback_application_name: 'apistrata notices',
    });
    const lost = () => {
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#listening = false;
      this.#wake?.();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => {
      if (!payload.startsWith(PROBE)) hear(payload);
      else if (this.#probe && payload === PROBE + this.#probe.nonce) this.#probe.heard();
    });
    // One that is ended while it connects never says that it has.
    await client.connect();
    this.#client = client;
    if (this.#stopped) return this.#leave();
    const { rows } = await sql<{ channel: string }>`select ${channelOf(receiver)} as channel`.execute(session.db);
    await client.query(`listen "${rows[0]!.channel}"`);
  }

  /** Sends itself a notice, by another connection, and waits for it. */
  async #arrives(): Promise<boolean> {
    const { session, receiver } = this.#options;
    const nonce = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const heard = new Promise<boolean>((resolve) => {
      this.#probe = { nonce, heard: () => resolve(true) };
      timer = setTimeout(() => resolve(false), PROBE_MS).unref();
    });
    try {
      const sent = sql`select pg_notify(${channelOf(receiver)}, ${PROBE + nonce})`.execute(session.db);
      const [arrived] = await Promise.all([heard, sent]);
      return arrived;
    } finally {
      clearTimeout(timer);
      this.#probe = undefined;
    }
  }

  async #leave(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#listening = false;
    // A connection that is gone cannot be ended in order.
    await client?.end().catch(() => {});
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopped) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}
