import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startMariadb, startPostgres, startRedis, type TestServer } from '../../../testing/servers.js';
import { type Check, ping } from '../src/index.js';
import { closing } from './serve.js';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

/** Creates the check that the README shows for a client. */
function shownCheck(library: string, client: Readonly<Record<string, unknown>>): Check {
  const [, code] = new RegExp(`^(ping\\(.*\\)); // ${library}$`, 'm').exec(readme) ?? [];
  return new Function('ping', ...Object.keys(client), `return ${code}`)(ping, ...Object.values(client));
}

/** MariaDB creates a new data folder first, which takes long on a busy machine. */
const START_TIMEOUT_MS = 240_000;

interface Client {
  readonly check: Check;
  readonly close: () => unknown;
}

/** Clients without listeners end their process when the connection is lost. */
const ignore = () => undefined;

const CLIENTS: Readonly<
  Record<string, readonly [start: typeof startRedis, connect: (url: string) => Promise<Client>]>
> = {
  pg: [
    () => startPostgres(),
    async (connectionString) => {
      const pool = new pg.Pool({ connectionString }).on('error', ignore);
      return { check: shownCheck('pg', { pool }), close: () => pool.end() };
    },
  ],
  ioredis: [
    startRedis,
    async (url) => {
      const redis = new Redis(url, { maxRetriesPerRequest: 1 }).on('error', ignore);
      return { check: shownCheck('ioredis', { redis }), close: () => redis.disconnect() };
    },
  ],
  mysql2: [
    startMariadb,
    async (url) => {
      const connection = await createConnection(url);
      connection.on('error', ignore);
      return { check: shownCheck('mysql2', { connection }), close: () => connection.destroy() };
    },
  ],
};

it.for(Object.entries(CLIENTS))(
  'ping() with %s, as the README shows it, is available until the server stops',
  { timeout: START_TIMEOUT_MS },
  async ([library, [start, connect]], { skip }) => {
    const server: TestServer | undefined = await start();
    if (!server) return skip(`*** SKIPPED: this machine has no server for ${library} ***`);
    const { check, close } = await connect(server.url);
    try {
      const health = closing({ log: false, backends: [{ ...check, cacheMs: 0 }] });
      const stateOf = async () => (await health.status()).results[0]?.state;
      expect(await stateOf()).toBe('available');
      await server.stop();
      await expect.poll(stateOf).toBe('unavailable');
    } finally {
      await close();
      await server.stop();
    }
  },
);
