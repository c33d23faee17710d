import { channelOf, type Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Sealer } from '../secrets/sealer.js';
import { failedResult, imageIdsOf, type MachineCall, type MachineCallResult } from './machine-call.js';

/** A request to a host, before it is stored. */
export interface NewHostRequest {
  /** Idempotency key: requests with the same id are the same request. */
  readonly id: string;
  readonly host: string;
  readonly serverId: string | null;
  readonly call: MachineCall;
  /** The job that sends the request, and its attempt; undefined if the request does not belong to a job. */
  readonly job?: { readonly id: string; readonly attempt: number };
}

/** A request as the host receives it. */
export interface HostRequest {
  readonly id: string;
  readonly serverId: string | null;
  /** The command; an error if it cannot be decrypted, for example after a key change. */
  readonly call: MachineCall | Error;
  /** Whether a process waits for the response. */
  readonly awaited: boolean;
}

/** A host's response to a request. */
export interface ReceivedResponse {
  readonly id: string;
  readonly result: MachineCallResult;
}

/**
 * Time for which responses are kept if no process collects them. Within this time, the process that continues the jobs
 * of a crashed process repeats their requests.
 */
const RESPONSE_RETENTION_MS = 600_000;

/**
 * Makes the commit asynchronous. If the database loses a request or a response in a crash, the request is repeated,
 * which is safe because it is idempotent.
 */
const ASYNCHRONOUS_COMMIT = sql`set_config('synchronous_commit', 'off', true)`;

/** Returns the additional authenticated data that binds an encrypted request to its row and its server. */
function requestContext({ id, serverId }: Pick<NewHostRequest, 'id' | 'serverId'>): string {
  return `${id} of ${serverId}`;
}

function responseContext(id: string): string {
  return `${id} answer`;
}

/**
 * The table of requests to hosts and their responses. Each row is one request. If another process continues a job and
 * repeats a request, it finds the existing row. A row is deleted when its response is collected. Requests and responses
 * may contain secrets and are therefore encrypted.
 */
export class HostRequests {
  readonly #store: Store;
  readonly #sealerOf: (host: string) => Sealer | undefined;

  /** @param sealerOf returns the sealer of a host, or undefined if requests to it are not encrypted */
  constructor(store: Store, sealerOf: (host: string) => Sealer | undefined) {
    this.#store = store;
    this.#sealerOf = sealerOf;
  }

  /** Stores requests and notifies their hosts. Returns whether the response to one of the requests already exists. */
  async post(requester: string | null, requests: readonly NewHostRequest[]): Promise<boolean> {
    await this.#withdraw(requests);
    // An insert statement may affect each row only once, so identical requests are merged.
    const uniqueRequests = [...new Map(requests.map((request) => [request.id, request])).values()];
    const rows = uniqueRequests.map((request) => ({
      ...request,
      text: this.#serialize(request.host, requestContext(request), request.call),
    }));
    const { rows: postedRows } = await sql<{ answered: boolean }>`
      with posted as (
        insert into host_orders (id, host, server_id, question, attempt, image_ids, asker, asked_at)
        select given.*, ${requester}::text, ${Date.now()}::bigint from unnest(
          ${rows.map(({ id }) => id)}::text[], ${rows.map(({ host }) => host)}::text[],
          ${rows.map(({ serverId }) => serverId)}::text[], ${rows.map(({ text }) => text)}::text[],
          ${rows.map(({ job }) => job?.attempt ?? 0)}::integer[],
          ${rows.map(({ call }) => imageIdsOf(call).join(' '))}::text[]) as given
        on conflict (id) do update
          set asker = excluded.asker, question = excluded.question, attempt = excluded.attempt
          where host_orders.attempt <= excluded.attempt
        returning host, answered_at is not null as answered)
      select host, bool_or(answered) as answered, pg_notify(${channelOf(sql`host`)}, ''), ${ASYNCHRONOUS_COMMIT}
      from posted group by host`.execute(this.#store.db);
    return postedRows.some(({ answered }) => answered);
  }

  /**
   * Removes requests of earlier attempts of the same jobs, except those that are repeated now, and cancels them on
   * their hosts. The process that waited for them died or lost its lease. If they remained, a host would execute both
   * the old and the new request.
   */
  async #withdraw(requests: readonly NewHostRequest[]): Promise<void> {
    const retriedJobs = requests.flatMap(({ job }) =>
      job && job.attempt > 1 ? { job: job.id, attempt: job.attempt } : [],
    );
    if (retriedJobs.length === 0) return;
    await sql`
      with withdrawn as (
        delete from host_orders using unnest(
          ${retriedJobs.map(({ job }) => job)}::text[], ${retriedJobs.map(({ attempt }) => attempt)}::integer[]) as later (job, attempt)
        where split_part(host_orders.id, '.', 1) = later.job and host_orders.attempt < later.attempt
          and host_orders.id <> all(${requests.map(({ id }) => id)}::text[])
        returning host_orders.host, host_orders.id)
      select pg_notify(${channelOf(sql`host`)}, 'cancel ' || id), ${ASYNCHRONOUS_COMMIT} from withdrawn`.execute(
      this.#store.db,
    );
  }

  /** Deletes and returns the responses for a requester. */
  async collect(requester: string): Promise<readonly ReceivedResponse[]> {
    const { rows } = await sql<{ id: string; host: string; answer: string }>`
      delete from host_orders where asker = ${requester} and answered_at is not null
      returning id, host, answer, ${ASYNCHRONOUS_COMMIT}`.execute(this.#store.db);
    return rows.map(({ id, host, answer: response }) => {
      // A response that cannot be decrypted fails only its own request.
      const result = this.#deserialize<MachineCallResult>(host, responseContext(id), response);
      return { id, result: result instanceof Error ? failedResult(result) : result };
    });
  }

  /** Returns the ids whose requests no longer exist. */
  async findMissing(ids: readonly string[]): Promise<readonly string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from host_orders where id = any(${ids}::text[])`.execute(this.#store.db);
    const existingIds = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => !existingIds.has(id));
  }

  /** Cancels a request, and notifies the host, which may already be executing it. */
  async cancel(id: string): Promise<void> {
    await sql`
      with cancelled as (delete from host_orders where id = ${id} returning host)
      select pg_notify(${channelOf(sql`host`)}, ${`cancel ${id}`}) from cancelled`.execute(this.#store.db);
  }

  /**
   * Claims requests to a host, oldest first, including those that an earlier process of the host has started. Returns
   * none if `owner` does not have the lease.
   */
  async claim(host: string, owner: string, max: number): Promise<readonly HostRequest[]> {
    interface ClaimedRow {
      readonly id: string;
      readonly server_id: string | null;
      readonly question: string;
      readonly asker: string | null;
    }
    const { rows } = await sql<ClaimedRow>`
      update host_orders set begun_by = ${owner} where id in (
        select id from host_orders
        where host = ${host} and answered_at is null and begun_by is distinct from ${owner}
          and exists (select 1 from host_holds where host = ${host} and owner = ${owner})
        order by asked_at limit ${max} for update skip locked)
      returning id, server_id, question, asker, ${ASYNCHRONOUS_COMMIT}`.execute(this.#store.db);
    return rows.map(({ id, server_id, question: query, asker: requester }) => ({
      id,
      serverId: server_id,
      awaited: requester !== null,
      call: this.#deserialize<MachineCall>(host, requestContext({ id, serverId: server_id }), query),
    }));
  }

  /**
   * Stores responses and notifies their requesters. Requests that were cancelled or claimed by another process are
   * skipped.
   */
  async storeResult(host: string, owner: string, responses: readonly ReceivedResponse[]): Promise<void> {
    const serializedResults = responses.map(({ id, result }) => this.#serialize(host, responseContext(id), result));
    await sql`
      with answered as (
        update host_orders set answer = given.answer, answered_at = ${Date.now()}
        from unnest(${responses.map(({ id }) => id)}::text[], ${serializedResults}::text[]) as given (id, answer)
        where host_orders.id = given.id and host = ${host} and begun_by = ${owner}
        returning asker)
      select pg_notify(${channelOf(sql`asker`)}, ''), ${ASYNCHRONOUS_COMMIT} from (select distinct asker from answered) as askers`.execute(
      this.#store.db,
    );
  }

  /** Removes a request that needs no response, or that a later request has superseded. */
  async end(owner: string, id: string): Promise<void> {
    await sql`delete from host_orders where id = ${id} and begun_by = ${owner}`.execute(this.#store.db);
  }

  /** Deletes responses that no process has collected in time. */
  async cleanUp(host: string): Promise<void> {
    await sql`
      delete from host_orders where host = ${host} and answered_at < ${Date.now() - RESPONSE_RETENTION_MS}`.execute(
      this.#store.db,
    );
  }

  #serialize(host: string, context: string, value: MachineCall | MachineCallResult): string {
    const text = JSON.stringify(value);
    return this.#sealerOf(host)?.seal(text, context) ?? text;
  }

  #deserialize<T>(host: string, context: string, text: string): T | Error {
    try {
      return JSON.parse(this.#sealerOf(host)?.open(text, context) ?? text);
    } catch (error) {
      return error as Error;
    }
  }
}
