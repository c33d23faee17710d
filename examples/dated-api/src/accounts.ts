import type { IncomingMessage } from 'node:http';
import { Invoices } from './invoices.js';
import { versions } from './versions.js';

/** A customer of the API. */
export interface Account {
  readonly name: string;
  /** The version of requests without a version. */
  readonly pinned: string;
  readonly invoices: Invoices;
}

/** Thrown for a request without a valid key. */
export class Unauthorized extends Error {
  readonly status = 401;
  readonly code = 'UNAUTHORIZED';
}

/** All accounts, by their keys. A program with a database would read accounts from it: the functions may return promises. */
export class Accounts {
  readonly #byKey = new Map<string, Account>();

  /** Adds an account and pins it to a version. Default: the newest version. */
  add(key: string, name: string, pinned = String(versions.at(-1)?.version)): Account {
    const account = { name, pinned, invoices: new Invoices() };
    this.#byKey.set(key, account);
    return account;
  }

  /** Returns the account of a request; undefined without a valid key. */
  find(req: IncomingMessage): Account | undefined {
    const [, key = ''] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    return this.#byKey.get(key);
  }

  /** Returns the account of a request. @throws Unauthorized without a valid key */
  authenticate(req: IncomingMessage): Account {
    const account = this.find(req);
    if (!account) throw new Unauthorized('Send a key: Authorization: Bearer KEY.');
    return account;
  }
}
