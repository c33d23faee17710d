import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';

/**
 * The lease that makes a process the host with a given name. Only one process may execute the requests of a host at a
 * time.
 */
export class HostLease {
  readonly #store: Store;
  readonly #host: string;
  readonly #owner: string;
  readonly #leaseMs: number;
  #until = 0;

  constructor(store: Store, { host, owner, leaseMs }: { host: string; owner: string; leaseMs: number }) {
    this.#store = store;
    this.#host = host;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
  }

  /** The time until the lease expires if it is not renewed, in milliseconds; 0 if it has expired. */
  get remainingMs(): number {
    return Math.max(0, this.#until - Date.now());
  }

  /** Acquires the lease. Returns false if another live process has it. */
  async acquire(): Promise<boolean> {
    const now = Date.now();
    const until = now + this.#leaseMs;
    const { rows } = await sql`
      insert into host_holds (host, owner, lease_until) values (${this.#host}, ${this.#owner}, ${until})
      on conflict (host) do update set owner = excluded.owner, lease_until = excluded.lease_until
        where host_holds.lease_until < ${now} or host_holds.owner = excluded.owner
      returning owner`.execute(this.#store.db);
    return this.#update(rows.length === 1, until);
  }

  /** Renews the lease. Returns false if another process has acquired it. */
  async renew(): Promise<boolean> {
    const until = Date.now() + this.#leaseMs;
    const { rows } = await sql`
      update host_holds set lease_until = ${until}
      where host = ${this.#host} and owner = ${this.#owner} returning owner`.execute(this.#store.db);
    return this.#update(rows.length === 1, until);
  }

  /** Releases the lease, so that another process can acquire it immediately. */
  async release(): Promise<void> {
    this.#until = 0;
    await sql`
      update host_holds set lease_until = 0 where host = ${this.#host} and owner = ${this.#owner}`.execute(
      this.#store.db,
    );
  }

  #update(isHolder: boolean, until: number): boolean {
    this.#until = isHolder ? until : 0;
    return isHolder;
  }
}
