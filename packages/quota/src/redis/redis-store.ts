import { BatchQueue } from '../batch-queue.js';
import { checkOptions } from '../check-options.js';
import { Compensation } from '../compensation.js';
import { forEachAmount } from '../for-each-amount.js';
import { limitFor } from '../limit-for.js';
import type { Amounts, ExceededLimit } from '../limits.js';
import type {
  ConsumeRequest,
  Count,
  OwnLimits,
  Page,
  ProjectLimits,
  QuotaStore,
  ReserveRequest,
  StoredReservation,
} from '../store.js';
import { zip } from '../zip.js';
import { Lanes, type Receipt, type UncertainConsume } from './lanes.js';
import type { Script } from './lua.js';
import { hashEntries, limitsOf, parseExceeded } from './replies.js';
import { addRequestedAmounts, memberOf, ProjectNumbers } from './requests.js';
import * as scripts from './scripts.js';
import * as single from './single-scripts.js';

/**
 * The method that the store calls. `ioredis` clients have it; for clients of the `redis` package, pass
 * `{ call: (...a) => client.sendCommand(a) }`.
 */
export interface RedisClient {
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** Options for `redisStore()`. */
export interface RedisStoreOptions {
  readonly client: RedisClient;
  /**
   * The prefix of all keys. Default `{quota}:`. The braces keep all keys in one cluster slot, because Redis requires
   * that for scripts that use several keys.
   */
  readonly keyPrefix?: string;
  /** Returns the current time in milliseconds since 1970. Default: the clock of the Redis server. */
  readonly clock?: () => number;
}

/** Several small batches are in flight, so that the server executes one while this process parses the replies to another. */
const BATCH_LIMITS = { size: 32, maxInFlight: 4 };

interface Settlement {
  readonly reservation: StoredReservation;
  readonly outcome: 'commit' | 'release';
}

/**
 * Creates a store in Redis 6.2 or later. Limits and usage are as durable as the Redis server: with `appendonly yes` and
 * `appendfsync always`, a restart does not lose confirmed changes.
 *
 * @throws TypeError for unknown options and clients that prefix keys themselves
 *
 * @example
 * ```ts
 * import { redisStore } from '@apistrata/quota/redis';
 * import { Redis } from 'ioredis';
 *
 * const store = redisStore({ client: new Redis('redis://localhost:6379') });
 * ```
 */
export function redisStore(options: RedisStoreOptions): QuotaStore {
  checkOptions('redisStore', options, { client: true, keyPrefix: true, clock: true });
  if (!options.client) throw new TypeError('redisStore: a client is required, for example new Redis() of ioredis');
  if ((options.client as { options?: { keyPrefix?: string } }).options?.keyPrefix) {
    throw new TypeError('redisStore: set keyPrefix on the store, not on the client');
  }
  return new RedisStore(options);
}

class RedisStore implements QuotaStore {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #clock: (() => number) | undefined;
  readonly #lanes = new Lanes();
  readonly #compensation = new Compensation((operation: UncertainConsume) => this.#undo(operation));
  readonly #reserveQueue = new BatchQueue<ReserveRequest, readonly ExceededLimit[]>(BATCH_LIMITS, {
    one: (request) => this.#reserveOne(request),
    many: (requests) => this.#consumeBatch(requests, (request) => [memberOf(request), request.ttlMs]),
  });
  readonly #consumeQueue = new BatchQueue<ConsumeRequest, readonly ExceededLimit[]>(BATCH_LIMITS, {
    one: (request) => this.#consumeOne(request),
    many: (requests) => this.#consumeAll(requests),
  });
  readonly #settleQueue = new BatchQueue<Settlement, boolean>(BATCH_LIMITS, {
    one: (settlement) => this.#settleOne(settlement),
    many: (settlements) => this.#settleAll(settlements),
  });

  constructor({ client, keyPrefix = '{quota}:', clock }: RedisStoreOptions) {
    this.#client = client;
    this.#prefix = keyPrefix;
    this.#clock = clock;
  }

  reserve(request: ReserveRequest): Promise<readonly ExceededLimit[]> {
    return this.#reserveQueue.add(request);
  }

  consume(request: ConsumeRequest): Promise<readonly ExceededLimit[]> {
    return this.#consumeQueue.add(request);
  }

  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): Promise<boolean> {
    return this.#settleQueue.add({ reservation, outcome });
  }

  async renew(reservation: StoredReservation, ttlMs: number): Promise<boolean> {
    const keys = [this.#reservations(reservation.project)];
    return (await this.#run(scripts.RENEW, keys, [memberOf(reservation), String(ttlMs)])) === 1;
  }

  async counts(project: string): Promise<Readonly<Record<string, Count>>> {
    const keys = [this.#counters(project), this.#reservations(project)];
    const counts: Record<string, { used: number; reserved: number }> = {};
    for (const [field, value] of hashEntries(await this.#run(scripts.COUNTS, keys, []))) {
      const count = (counts[field.slice(2)] ??= { used: 0, reserved: 0 });
      count[field.startsWith('u:') ? 'used' : 'reserved'] = Number(value);
    }
    return counts;
  }

  async release(project: string, amounts: Amounts): Promise<void> {
    const args = Object.entries(amounts).flatMap(([kind, amount]) => [kind, String(amount)]);
    await this.#run(scripts.RELEASE, [this.#counters(project)], args);
  }

  async recount(project: string, kind: string, used: number): Promise<void> {
    if (used === 0) await this.#client.call('HDEL', this.#counters(project), `u:${kind}`);
    else await this.#client.call('HSET', this.#counters(project), `u:${kind}`, String(used));
  }

  async getLimits(project: string): Promise<OwnLimits | undefined> {
    const fields = hashEntries(await this.#client.call('HGETALL', this.#limits(project)));
    return fields.length === 0 ? undefined : limitsOf(fields);
  }

  async setLimits(project: string, limits: OwnLimits): Promise<void> {
    const keys = [this.#limits(project), `${this.#prefix}list`, `${this.#prefix}sequence`];
    const args = Object.entries(limits).flatMap(([kind, limit]) => [kind, String(limit)]);
    await this.#run(scripts.SET_LIMITS, keys, [project, ...args]);
  }

  async removeLimits(project: string): Promise<boolean> {
    const keys = [this.#limits(project), `${this.#prefix}list`];
    return (await this.#run(scripts.REMOVE_LIMITS, keys, [project])) === 1;
  }

  async listLimits({ limit, offset }: Page) {
    const args = [this.#limits(''), String(offset), String(limit)];
    const reply = await this.#run(scripts.LIST_LIMITS, [`${this.#prefix}list`], args);
    const [total, ...rest] = reply as [number, ...unknown[]];
    const entries: ProjectLimits[] = [];
    for (let index = 0; index < rest.length; index += 2) {
      entries.push({ project: String(rest[index]), limits: limitsOf(hashEntries(rest[index + 1])) });
    }
    return { entries, total };
  }

  async sweep(): Promise<void> {
    const keyStart = this.#reservations('');
    const pattern = `${keyStart.replace(/[\\*?[\]]/g, '\\$&')}*`;
    let cursor = '0';
    do {
      const reply = await this.#client.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', '500');
      const [next, keys] = reply as [string, string[]];
      for (const key of keys) await this.counts(key.slice(keyStart.length));
      cursor = String(next);
    } while (cursor !== '0');
  }

  async #reserveOne(request: ReserveRequest): Promise<readonly ExceededLimit[]> {
    const args = [memberOf(request), String(request.ttlMs)];
    addRequestedAmounts(args, request);
    const reply = await this.#run(single.RESERVE_ONE, this.#keysOf(request.project), args);
    return parseExceeded(request, reply as string[]);
  }

  async #consumeOne(request: ConsumeRequest): Promise<readonly ExceededLimit[]> {
    const keys = this.#keysOf(request.project);
    const [exceeded] = await this.#withReceipt([request], async (receipt) => {
      keys.push(receipt.key);
      const args = [receipt.number];
      addRequestedAmounts(args, request);
      return [parseExceeded(request, (await this.#run(single.CONSUME_ONE, keys, args)) as string[])] as const;
    });
    return exceeded;
  }

  #consumeAll(requests: readonly ConsumeRequest[]): Promise<readonly (readonly ExceededLimit[])[]> {
    // A consume operation does not create a reservation, so its member and time-to-live are empty.
    return this.#withReceipt(requests, (receipt) => this.#consumeBatch(requests, () => ['', -1], receipt));
  }

  /** Runs a consume operation, and undoes it if its result is lost. */
  async #withReceipt<V extends readonly (readonly ExceededLimit[])[]>(
    requests: readonly ConsumeRequest[],
    execute: (receipt: Receipt) => Promise<V>,
  ): Promise<V> {
    const lane = this.#lanes.acquire();
    const receipt = { key: `${this.#prefix}receipts:${lane.id}`, number: String(lane.last + 1) };
    let results: V;
    try {
      results = await execute(receipt);
    } catch (error) {
      this.#compensation.add({ receipt, requests });
      throw error;
    }
    if (results.some((exceeded) => exceeded.length === 0)) lane.last++;
    this.#lanes.release(lane);
    return results;
  }

  async #consumeBatch<R extends ConsumeRequest>(
    requests: readonly R[],
    memberOf: (request: R) => [member: string, ttlMs: number],
    receipt?: Receipt,
  ): Promise<readonly (readonly ExceededLimit[])[]> {
    const projects = new ProjectNumbers();
    const batch = requests.map((request) => {
      const row: (string | number)[] = [projects.numberOf(request.project), ...memberOf(request)];
      forEachAmount(request.amounts, (kind, amount) => {
        row.push(kind, amount, limitFor(kind, undefined, request.defaults));
      });
      return row;
    });
    const keys = projects.all.flatMap((id) => this.#keysOf(id));
    const args = [JSON.stringify(batch)];
    if (receipt) {
      keys.push(receipt.key);
      args.push(receipt.number);
    }
    const replies = (await this.#run(scripts.RESERVE, keys, args)) as string[][];
    return zip(requests, replies).map(([request, reply]) => parseExceeded(request, reply));
  }

  async #undo({ receipt, requests }: UncertainConsume): Promise<void> {
    const projects = new ProjectNumbers();
    const batch = requests.map(({ project, amounts }) => [
      projects.numberOf(project),
      ...Object.entries(amounts).flat(),
    ]);
    const keys = [...projects.all.map((id) => this.#counters(id)), receipt.key];
    await this.#run(scripts.UNDO, keys, [receipt.number, JSON.stringify(batch)]);
  }

  async #settleOne({ reservation, outcome }: Settlement): Promise<boolean> {
    const keys = [this.#counters(reservation.project), this.#reservations(reservation.project)];
    const args = [memberOf(reservation), outcome === 'commit' ? '1' : '0'];
    forEachAmount(reservation.amounts, (kind, amount) => args.push(kind, String(amount)));
    return (await this.#run(single.SETTLE_ONE, keys, args)) === 1;
  }

  async #settleAll(settlements: readonly Settlement[]): Promise<readonly boolean[]> {
    const projects = new ProjectNumbers();
    const batch = settlements.map(({ reservation, outcome }) => {
      const commit = outcome === 'commit' ? 1 : 0;
      const index = projects.numberOf(reservation.project);
      return [index, memberOf(reservation), commit, ...Object.entries(reservation.amounts).flat()];
    });
    const keys = projects.all.flatMap((id) => [this.#counters(id), this.#reservations(id)]);
    const replies = (await this.#run(scripts.SETTLE, keys, [JSON.stringify(batch)])) as number[];
    return replies.map((reply) => reply === 1);
  }

  async #run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, this.#clock ? String(this.#clock()) : '', ...args];
    try {
      return await this.#client.call('EVALSHA', script.sha, ...rest);
    } catch (error) {
      // `NOSCRIPT` means that the Redis server has lost its script cache, for example in a restart.
      if (!String((error as Error).message).startsWith('NOSCRIPT')) throw error;
      return this.#client.call('EVAL', script.text, ...rest);
    }
  }

  /** Returns the Redis keys that the reserve and consume scripts use. */
  #keysOf(project: string): string[] {
    return [this.#counters(project), this.#limits(project), this.#reservations(project)];
  }

  // The project id is the last part of each key, so that no project id can result in the key of another project or type.
  #counters(project: string): string {
    return `${this.#prefix}counters:${project}`;
  }

  #reservations(project: string): string {
    return `${this.#prefix}holds:${project}`;
  }

  #limits(project: string): string {
    return `${this.#prefix}limits:${project}`;
  }
}
