import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { freePort } from '../../../../testing/servers.js';
import { type DatabaseSettings, defaultDatabaseSettings } from '../../src/options/database-settings.js';
import { postgresAddresses } from '../../src/postgres/postgres-addresses.js';
import { openDatabase } from '../../src/store/database.js';
import { openStore } from '../open-store.js';

const postgresUrl = inject('postgresUrl');
const pgbouncerUrl = inject('pgbouncerUrl');

describe('the addresses of a connection string', () => {
  it.each([
    ['postgres://me@a/cloud', ['postgres://me@a/cloud']],
    [
      'postgres://me:p%40,x@a:1,b/cloud?ssl=1',
      ['postgres://me:p%40,x@a:1/cloud?ssl=1', 'postgres://me:p%40,x@b/cloud?ssl=1'],
    ],
    ['postgresql://[::1]:1,b:2', ['postgresql://[::1]:1', 'postgresql://b:2']],
    ['postgres:///cloud', ['postgres:///cloud']],
  ])('include each host: %s', (url, addresses) => {
    expect(postgresAddresses(url)).toEqual(addresses);
  });
});

function opened(url: string, settings: Partial<DatabaseSettings> = {}) {
  const { db } = openDatabase(url, { ...defaultDatabaseSettings, ...settings });
  onTestFinished(() => db.destroy());
  return db;
}

describe.skipIf(!postgresUrl)('several hosts', () => {
  const { host } = new URL(postgresUrl || 'postgres://none');
  const withHosts = (hosts: string) => postgresUrl.replace(host, hosts);

  /** Forwards connections on a port to the database. Returns a function that ends all of them. */
  async function forward(port: number): Promise<() => void> {
    const target = new URL(postgresUrl);
    const sockets: Socket[] = [];
    const server = createServer((near) => {
      const remote = connect(Number(target.port), target.hostname);
      for (const socket of [near, remote]) sockets.push(socket.on('error', () => {}));
      near.pipe(remote).pipe(near);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
  }

  it('are tried in turn, and the first of them again when it has recovered', async () => {
    const [first, second] = [await freePort(), await freePort()];
    const stopSecond = await forward(second);
    const db = opened(withHosts(`127.0.0.1:${first},127.0.0.1:${second}`));
    const select = async () => (await sql<{ one: number }>`select 1 as one`.execute(db)).rows;
    for (const rows of await Promise.all(Array.from({ length: 5 }, select))) expect(rows).toEqual([{ one: 1 }]);
    const stopFirst = await forward(first);
    onTestFinished(stopFirst);
    stopSecond();
    // Queries on connections that have broken fail; later ones connect to the first host.
    await expect.poll(() => select().catch(() => [])).toEqual([{ one: 1 }]);
  });

  it('are reported as unavailable if none of them can be reached', async () => {
    const db = opened(withHosts(`127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`));
    await expect(sql`select 1`.execute(db)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      failure: 'unreachable',
    });
  });
});

describe.skipIf(!pgbouncerUrl)('behind a pooler that switches sessions', () => {
  it('limits apply to each transaction, and do not remain in the session', async () => {
    const db = opened(pgbouncerUrl, { statementTimeoutMs: 2_000, lockTimeoutMs: 1_500, poolSize: 2 });
    const limits = (on: typeof db) =>
      sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`.execute(
        on,
      );
    for (let round = 0; round < 3; round++) {
      const { rows } = await db.transaction().execute((tx) => limits(tx));
      expect(rows).toEqual([{ statement: '2s', lock: '1500ms' }]);
      expect((await limits(db)).rows).toEqual([{ statement: '0', lock: '0' }]);
    }
    const late = db.transaction().execute((tx) => sql`select pg_sleep(60)`.execute(tx));
    await expect(late).rejects.toMatchObject({ failure: 'timeout' });
  });

  it('several processes can migrate one database concurrently', async () => {
    const { pathname } = new URL(await freshDatabase(postgresUrl));
    const url = pgbouncerUrl.replace(/\/[^/]*$/, pathname);
    const stores = await Promise.all([openStore(url), openStore(url), openStore(url)]);
    await Promise.all(stores.map((store) => store.check()));
    await Promise.all(stores.map((store) => store.close()));
  });
});
