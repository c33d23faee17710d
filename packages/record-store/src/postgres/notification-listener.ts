import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Session } from '../store/database.js';
import { loadPg } from './load-pg.js';
import { postgresAddresses } from './postgres-addresses.js';

/** The part of a `pg` client that the listener uses. */
interface ListeningClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  end(): Promise<void>;
  on(event: 'notification', listener: (notice: { readonly payload?: string }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

export interface NotificationListenerOptions {
  /** URL of the database: `postgres://...` */
  readonly url: string;
  /** The session that sends probes, which detect whether notifications arrive. */
  readonly session: Session;
  /** The name of the receiver, which can be any string. */
  readonly receiver: string;
  /** Called with each notification's payload, or with '' if notifications may have been missed. */
  readonly onNotification: (payload: string) => void;
}

const PROBE_PREFIX = 'probe ';
/** Timeout for a probe, for a query, and for connecting. */
const PROBE_TIMEOUT_MS = 5_000;
/** The interval between two probes. */
const PROBE_INTERVAL_MS = 20_000;
/** The first pause before reconnecting. The pause doubles with each failure. */
const FIRST_RECONNECT_PAUSE_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 30_000;

/**
 * Returns an SQL expression for a receiver's channel name. The name contains a hash of the receiver, so that it is
 * short and has no special characters.
 */
export const channelOf = (receiver: unknown) => sql<string>`'apistrata_' || md5(${receiver})`;

/**
 * Receives PostgreSQL notifications for one receiver, on a separate connection that is reopened when it breaks. A
 * notification only reports that data is available, so callers must also poll, and poll more often while `listening` is
 * false. Behind a pooler that shares connections between transactions, notifications never arrive. Probes detect this.
 */
export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  #client: ListeningClient | undefined;
  #probe: { readonly nonce: string; readonly received: () => void } | undefined;
  #listening = false;
  #stopped = false;
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
  }

  /** Whether a probe has confirmed that notifications arrive. */
  get listening(): boolean {
    return this.#listening;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#disconnect();
    await this.#running;
  }

  /**
   * Executes a query for one value on the listening connection. The server delivers pending notifications before a
   * result. When this call resolves, every notification that was acknowledged to its sender before the call has
   * therefore been received. Resolves to undefined while `listening` is false.
   */
  async query(text: string): Promise<string | undefined> {
    const client = this.#client;
    if (!client || !this.#listening) return undefined;
    const { rows } = await client.query(text);
    const [result] = Object.values(rows[0] ?? {});
    return this.#client === client && this.#listening ? String(result) : undefined;
  }

  async #run(): Promise<void> {
    const addresses = postgresAddresses(this.#options.url);
    for (let failures = 0; !this.#stopped; failures++) {
      try {
        // Tries the hosts in turn, because standby servers reject LISTEN.
        await this.#connect(addresses[failures % addresses.length] ?? this.#options.url);
        while (!this.#stopped && (await this.#probeArrives())) {
          failures = 0;
          if (!this.#listening) {
            this.#listening = true;
            this.#options.onNotification('');
          }
          await this.#waitUntilWoken(PROBE_INTERVAL_MS);
          if (!this.#client) break;
        }
      } catch {
        // The database is unavailable or rejects the connection. Callers receive this error from their own queries.
      }
      await this.#disconnect();
      if (!this.#stopped)
        await this.#waitUntilWoken(Math.min(FIRST_RECONNECT_PAUSE_MS * 2 ** failures, MAX_RECONNECT_PAUSE_MS));
    }
  }

  async #connect(address: string): Promise<void> {
    const pg = loadPg(import.meta.url);
    const { session, receiver, onNotification } = this.#options;
    const client: ListeningClient = new pg.Client({
      connectionString: address,
      keepAlive: true,
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      fallback_application_name: 'apistrata notices',
    });
    const handleLostConnection = () => {
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#listening = false;
      this.#wake?.();
    };
    client.on('error', handleLostConnection);
    client.on('end', handleLostConnection);
    client.on('notification', ({ payload = '' }) => {
      if (!payload.startsWith(PROBE_PREFIX)) onNotification(payload);
      else if (this.#probe && payload === PROBE_PREFIX + this.#probe.nonce) this.#probe.received();
    });
    // The client is stored only after it has connected, because a client that is closed while it connects never emits
    // an event.
    await client.connect();
    this.#client = client;
    if (this.#stopped) return this.#disconnect();
    const { rows } = await sql<{ channel: string }>`select ${channelOf(receiver)} as channel`.execute(session.db);
    for (const { channel } of rows) await client.query(`listen "${channel}"`);
  }

  /** Sends a probe to this listener on another connection. Returns whether the probe arrives in time. */
  async #probeArrives(): Promise<boolean> {
    const { session, receiver } = this.#options;
    const nonce = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const received = new Promise<boolean>((resolve) => {
      this.#probe = { nonce, received: () => resolve(true) };
      timer = setTimeout(() => resolve(false), PROBE_TIMEOUT_MS).unref();
    });
    try {
      const sent = sql`select pg_notify(${channelOf(receiver)}, ${PROBE_PREFIX + nonce})`.execute(session.db);
      const [hasArrived] = await Promise.all([received, sent]);
      return hasArrived;
    } finally {
      clearTimeout(timer);
      this.#probe = undefined;
    }
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#listening = false;
    // Errors are ignored, because a broken connection cannot be closed cleanly.
    await client?.end().catch(() => {});
  }

  async #waitUntilWoken(ms: number): Promise<void> {
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
