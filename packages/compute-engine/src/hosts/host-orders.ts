import { channelOf, type Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Sealer } from '../secrets/sealer.js';
import type { HostAnswer, HostQuestion } from './host-question.js';

/** A question before it is written down. */
export interface NewHostOrder {
  /** The same id twice is the same order. */
  readonly id: string;
  readonly host: string;
  readonly serverId: string | null;
  readonly question: HostQuestion;
  /** The job that makes the request, and which attempt of it; left out where a caller waits for the response. */
  readonly job?: { readonly id: string; readonly attempt: number };
  /** After this time (ms) nobody waits any more; left out: as long as it takes. */
  readonly expiresAt?: number;
}

/** A question as the host gets it. */
export interface HostOrder {
  readonly id: string;
  readonly serverId: string | null;
  readonly question: HostQuestion;
  /** Whether somebody waits for the answer. */
  readonly awaited: boolean;
}

/** An answer that somebody waits for. */
export interface ToldAnswer {
  readonly id: string;
  readonly answer: HostAnswer;
}

/** Answers that nobody fetched are kept for so long: whoever asked has died, and his successor has asked by then. */
const KEPT_MS = 600_000;

/**
 * Nobody waits for the disk: an order or an answer that a database forgets in its last moments is given once more, and does
 * nothing where its effect is there already.
 */
const NOT_ON_DISK = sql`set_config('synchronous_commit', 'off', true)`;

/**
 * The table by which hosts are told what to do, and tell how it went. An order is a row: whoever asks the same once more
 * (a job that another process goes on with) finds it, begun or answered. It is gone with its answer. What questions and
 * answers say may be secret, and is sealed.
 */
export class HostOrders {
  readonly #store: Store;
  readonly #sealer: Sealer | undefined;

  constructor(store: Store, sealer: Sealer | undefined) {
    this.#store = store;
    this.#sealer = sealer;
  }

  /** Writes orders down and wakes their hosts; true when one of them was there already. */
  async post(asker: string | null, orders: readonly NewHostOrder[]): Promise<boolean> {
    await this.#withdraw(orders);
    // One statement inserts a row once: the same order, asked for by two at the same time, is one row.
    const once = [...new Map(orders.map((order) => [order.id, order])).values()];
    const rows = once.map(({ id, question, ...order }) => ({ ...order, id, text: this.#write(id, question) }));
    const { rows: posted } = await sql<{ known: boolean }>`
      with posted as (
        insert into host_orders (id, host, server_id, question, expires_at, attempt, asker, asked_at)
        select given.*, ${asker}::text, ${Date.now()}::bigint from unnest(
          ${rows.map(({ id }) => id)}::text[], ${rows.map(({ host }) => host)}::text[],
          ${rows.map(({ serverId }) => serverId)}::text[], ${rows.map(({ text }) => text)}::text[],
          ${rows.map(({ expiresAt }) => expiresAt ?? null)}::bigint[],
          ${rows.map(({ job }) => job?.attempt ?? 0)}::integer[]) as given
        on conflict (id) do update
          set asker = excluded.asker, question = excluded.question, attempt = excluded.attempt
          where host_orders.attempt <= excluded.attempt
        returning host, answered_at is not null as known)
      select host, bool_or(known) as known, pg_notify(${channelOf(sql`host`)}, ''), ${NOT_ON_DISK}
      from posted group by host`.execute(this.#store.db);
    return posted.some(({ known }) => known);
  }

  /**
   * Removes what earlier attempts of the same jobs have requested and these attempts do not request, and tells hosts that have
   * begun it. The process that waited for it died or lost its lease, and a host would do the two at the same time.
   */
  async #withdraw(orders: readonly NewHostOrder[]): Promise<void> {
    const later = orders.flatMap(({ job }) => (job && job.attempt > 1 ? { job: job.id, attempt: job.attempt } : []));
    if (later.length === 0) return;
    await sql`
      with withdrawn as (
        delete from host_orders using unnest(
          ${later.map(({ job }) => job)}::text[], ${later.map(({ attempt }) => attempt)}::integer[]) as later (job, attempt)
        where split_part(host_orders.id, '.', 1) = later.job and host_orders.attempt < later.attempt
          and host_orders.id <> all(${orders.map(({ id }) => id)}::text[])
        returning host_orders.host, host_orders.id)
      select pg_notify(${channelOf(sql`host`)}, 'cancel ' || id), ${NOT_ON_DISK} from withdrawn`.execute(
      this.#store.db,
    );
  }

  /** Takes the answers that are there for this asker. Their orders are over. */
  async collect(asker: string): Promise<readonly ToldAnswer[]> {
    const { rows } = await sql<{ id: string; answer: string }>`
      delete from host_orders where asker = ${asker} and answered_at is not null returning id, answer, ${NOT_ON_DISK}`.execute(
      this.#store.db,
    );
    return rows.map(({ id, answer }) => ({ id, answer: this.#read(`${id} answer`, answer) as HostAnswer }));
  }

  /** Those of these orders that are no longer there. */
  async missing(ids: readonly string[]): Promise<readonly string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from host_orders where id = any(${ids}::text[])`.execute(this.#store.db);
    const there = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !there.has(id));
  }

  /** Nobody waits for it any more; a host that has begun it is told. */
  async cancel(id: string): Promise<void> {
    await sql`
      with gone as (delete from host_orders where id = ${id} returning host)
      select pg_notify(${channelOf(sql`host`)}, ${`cancel ${id}`}) from gone`.execute(this.#store.db);
  }

  /** Takes orders of a host, oldest first, also those that a former process of it has begun; none without its hold. */
  async claim(host: string, owner: string, most: number): Promise<readonly HostOrder[]> {
    interface Row {
      readonly id: string;
      readonly server_id: string | null;
      readonly question: string;
      readonly asker: string | null;
    }
    const { rows } = await sql<Row>`
      update host_orders set begun_by = ${owner} where id in (
        select id from host_orders
        where host = ${host} and answered_at is null and begun_by is distinct from ${owner}
          and (expires_at is null or expires_at > ${Date.now()})
          and exists (select 1 from host_holds where host = ${host} and owner = ${owner})
        order by asked_at limit ${most} for update skip locked)
      returning id, server_id, question, asker, ${NOT_ON_DISK}`.execute(this.#store.db);
    return rows.map(({ id, server_id, question, asker }) => ({
      id,
      serverId: server_id,
      awaited: asker !== null,
      question: this.#read(id, question) as HostQuestion,
    }));
  }

  /** Tells how orders went, and wakes those who wait. What somebody else has taken over or given up is left alone. */
  async answer(owner: string, answers: readonly ToldAnswer[]): Promise<void> {
    const texts = answers.map(({ id, answer }) => this.#write(`${id} answer`, answer));
    await sql`
      with told as (
        update host_orders set answer = given.answer, answered_at = ${Date.now()}
        from unnest(${answers.map(({ id }) => id)}::text[], ${texts}::text[]) as given (id, answer)
        where host_orders.id = given.id and begun_by = ${owner}
        returning asker)
      select pg_notify(${channelOf(sql`asker`)}, ''), ${NOT_ON_DISK} from (select distinct asker from told) as askers`.execute(
      this.#store.db,
    );
  }

  /** Removes a request that needs no response, or has none because a later one superseded it. */
  async end(owner: string, id: string): Promise<void> {
    await sql`delete from host_orders where id = ${id} and begun_by = ${owner}`.execute(this.#store.db);
  }

  /** Takes away what nobody will ask for any more. */
  async sweep(host: string): Promise<void> {
    const now = Date.now();
    await sql`
      delete from host_orders where host = ${host}
        and (answered_at < ${now - KEPT_MS} or (answered_at is null and expires_at < ${now}))`.execute(this.#store.db);
  }

  #write(place: string, value: HostQuestion | HostAnswer): string {
    const text = JSON.stringify(value);
    return this.#sealer ? this.#sealer.seal(text, place) : text;
  }

  #read(place: string, text: string): unknown {
    return JSON.parse(this.#sealer ? this.#sealer.open(text, place) : text);
  }
}
