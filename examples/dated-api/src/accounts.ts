import type { IncomingMessage } from 'node:http';
import { Invoices } from './invoices.js';
import { versions } from './versions.js';

/** A customer of the API. */
export interface Account {
  readonly name: string;
  /** The API version that applies to requests that do not select one. */
  readonly pinnedVersion: string;
  readonly invoices: Invoices;
}

/** Thrown if a request has no valid API key. */
export class UnauthorizedError extends Error {
  readonly status = 401;
  readonly code = 'UNAUTHORIZED';
}

/** All accounts, by API key. A real service would read them from its database. */
export class Accounts {
  readonly #byKey = new Map<string, Account>();

  /** Adds an account and pins it to an API version. The default is the newest version. */
  add(key: string, name: string, pinnedVersion = String(versions.at(-1)?.version)): Account {
    const account = { name, pinnedVersion, invoices: new Invoices() };
    this.#byKey.set(key, account);
    return account;
  }

  /** Returns the account that sent a request; undefined if the request has no valid API key. */
  find(req: IncomingMessage): Account | undefined {
    const [, key = ''] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    return this.#byKey.get(key);
  }

  /** Returns the account that sent a request. @throws Unauthorized if the request has no valid API key */
  authenticate(req: IncomingMessage): Account {
    const account = this.find(req);
    if (!account) throw new UnauthorizedError('Send a key: Authorization: Bearer KEY.');
    return account;
  }
}
