import { compoundKey, hotFind, lockName } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { badRequest, conflict, notFound } from '../errors/rejection.js';
import { generateSshKeypair, generateX509, InvalidKey, parseSshPublicKey, parseX509 } from '../keys/index.js';
import type { Keypair } from '../model/index.js';
import { tables } from '../schema/tables.js';
import { limitsOf, overQuotaError } from './quotas/server-quota.js';

export interface NewKeypair {
  readonly userId: string;
  readonly name: string;
  /** The public key to import. If omitted, a key pair is generated. */
  readonly publicKey?: string;
  readonly type: Keypair['type'];
}

/** The page size if a list request has no limit. */
const UNLIMITED_PAGE_SIZE = 2 ** 31 - 1;

/**
 * Reads a page of a user's key pairs. Parameters: the user id, the last name on the previous page ('' for the first
 * page), and the limit.
 */
const findPageOfUser = hotFind(tables.keypairs, (rows) =>
  rows.where('user_id', '=', '').where('name', '>', '').orderBy('name').limit(0),
);

/** Manages user key pairs. A generated private key is returned once and never stored. */
export class Keypairs {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  async get(userId: string, name: string): Promise<Keypair> {
    const keypair = await tables.keypairs.get(this.#core.store, compoundKey(userId, name));
    if (!keypair) throw notFound(`Keypair ${name} not found for user ${userId}`);
    return keypair;
  }

  /** Lists a user's key pairs, sorted by name. `marker` is the last name on the previous page. */
  async list(
    userId: string,
    page: { readonly limit?: number; readonly marker?: string } = {},
  ): Promise<readonly Keypair[]> {
    const { store } = this.#core;
    const { limit = UNLIMITED_PAGE_SIZE, marker } = page;
    if (marker !== undefined && !(await tables.keypairs.get(store, compoundKey(userId, marker)))) {
      throw badRequest(`marker [${marker}] not found`);
    }
    return findPageOfUser(store, [userId, marker ?? '', limit]);
  }

  /**
   * Imports or generates a key pair. Throws 400 if the key is invalid, 403 if the quota is exceeded, and 409 if the
   * name is in use.
   */
  async create(
    context: Context,
    request: NewKeypair,
  ): Promise<{ readonly keypair: Keypair; readonly privateKey?: string }> {
    const { store, clock } = this.#core;
    const { userId, name, type } = request;
    await this.#check(context, request);
    const { publicKey, fingerprint, privateKey } = await this.#keyMaterial(context, request);
    const record = { userId, name, type, publicKey, fingerprint, createdAt: clock.now() };
    const keypair = await store.transaction(async (tx) => {
      await lockName(tx, `keypairs:${userId}`);
      await this.#check(context, request, tx);
      return tables.keypairs.insert(tx, record);
    });
    return { keypair, privateKey };
  }

  async delete(userId: string, name: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      if (!(await tables.keypairs.delete(tx, compoundKey(userId, name))))
        throw notFound(`Keypair ${name} not found for user ${userId}`);
    });
  }

  /**
   * Checks the quota for key pairs, then whether the name is in use. Called before the expensive key generation, and
   * again in the transaction.
   */
  async #check(
    context: Context,
    { userId, name }: NewKeypair,
    session: Parameters<typeof tables.keypairs.count>[0] = this.#core.store,
  ): Promise<void> {
    const limits = await limitsOf(this.#core, session, context.caller.projectId, userId);
    const used = await tables.keypairs.count(session, (q) => q.where('user_id', '=', userId));
    const limit = limits.key_pairs;
    if (limit >= 0 && used >= limit) {
      const exceeded = [{ kind: 'key_pairs', requested: 1, used, limit }];
      throw overQuotaError(this.#core, context.caller, exceeded, 'Quota exceeded, too many key pairs.');
    }
    if (await tables.keypairs.get(session, compoundKey(userId, name)))
      throw conflict(`Key pair '${name}' already exists.`);
  }

  async #keyMaterial(context: Context, { userId, type, publicKey }: NewKeypair) {
    if (publicKey === undefined) {
      return type === 'ssh' ? generateSshKeypair() : generateX509(userId, context.caller.projectId);
    }
    try {
      const { fingerprint } = type === 'ssh' ? parseSshPublicKey(publicKey) : parseX509(publicKey);
      return { publicKey, fingerprint, privateKey: undefined };
    } catch (error) {
      if (error instanceof InvalidKey) throw badRequest(error.message);
      throw error;
    }
  }
}
