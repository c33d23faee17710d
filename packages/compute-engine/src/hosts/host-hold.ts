import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';

/** Which process is a host. One at a time: what it has begun, no other process of that name may be doing too. */
export class HostHold {
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

  /** Becomes the host, if no living process is. */
  async take(): Promise<boolean> {
    const now = Date.now();
    const { rows } = await sql`
      insert into host_holds (host, owner, lease_until) values (${this.#host}, ${this.#owner}, ${now + this.#leaseMs})
      on conflict (host) do update set owner = excluded.owner, lease_until = excluded.lease_until
        where host_holds.lease_until < ${now} or host_holds.owner = excluded.owner
      returning owner`.execute(this.#store.db);
    return rows.length === 1;
  }

  /** Goes on being the host; false when another process is it by now. */
  async renew(): Promise<boolean> {
    const { rows } = await sql`
      update host_holds set lease_until = ${Date.now() + this.#leaseMs}
      where host = ${this.#host} and owner = ${this.#owner} returning owner`.execute(this.#store.db);
    return rows.length === 1;
  }

  /** Lets another process become it at once. */
  async release(): Promise<void> {
    await sql`
      update host_holds set lease_until = 0 where host = ${this.#host} and owner = ${this.#owner}`.execute(
      this.#store.db,
    );
  }
}
