import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';

/** The lease that makes a process the host with a name. Only one process may execute the requests of a host at a time. */
export class HostLease {
  readonly #store: Store;
  readonly #host: string;
  readonly #owner: string;
  readonly #leaseMs: number;

  constructor(store: Store, { host, owner, leaseMs }: { host: string; owner: string; leaseMs: number }) {
    this.#store = store;
    this.#host = host;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
  }

  /** Acquires the lease unless a live process has it. */
  async acquire(): Promise<boolean> {
    const now = Date.now();
    const { rows } = await sql`
      insert into host_holds (host, owner, lease_until) values (${this.#host}, ${this.#owner}, ${now + this.#leaseMs})
      on conflict (host) do update set owner = excluded.owner, lease_until = excluded.lease_until
        where host_holds.lease_until < ${now} or host_holds.owner = excluded.owner
      returning owner`.execute(this.#store.db);
    return rows.length === 1;
  }

  /** Renews the lease; false if another process has acquired it. */
  async renew(): Promise<boolean> {
    const { rows } = await sql`
      update host_holds set lease_until = ${Date.now() + this.#leaseMs}
      where host = ${this.#host} and owner = ${this.#owner} returning owner`.execute(this.#store.db);
    return rows.length === 1;
  }

  /** Releases the lease, so that another process can acquire it immediately. */
  async release(): Promise<void> {
    await sql`
      update host_holds set lease_until = 0 where host = ${this.#host} and owner = ${this.#owner}`.execute(
      this.#store.db,
    );
  }
}
