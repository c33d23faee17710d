// The cost of creates on PostgreSQL, and of reads and creates with two API processes compared with one. All processes,
// the database and the load generator share this machine, so on few processors the ratio shows contention rather than
// scaling.
import { creation, FULL_HOSTS, failedCreation } from './creation.mjs';
import { requestsPerSecond } from './load.mjs';
import { freshDatabase } from './reference-process.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS, startServer } from './server-process.mjs';
import { durablePostgres } from './test-servers.mjs';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const FULL = { rounds: 3, seconds: 2, creates: 4000 };
const QUICK = { rounds: 2, seconds: 0.3, creates: 200 };

async function rate(servers, path, seconds, options) {
  const each = { connections: 16 / servers.length, headers: HEADERS, ...options };
  const rates = await Promise.all(servers.map(({ url }) => requestsPerSecond(url + path, seconds, each)));
  return rates.reduce((sum, one) => sum + one, 0);
}

/** Returns the rows of creates by a server process with other options, on a database of its own. */
async function creationOn(postgres, name, what, options, amount, rowsOf) {
  const { url, client } = await freshDatabase(postgres.url, name);
  await client.end();
  const server = await startServer(url, options);
  const rows = await rowsOf(server, `PostgreSQL, ${what}`, amount);
  await server.stop();
  return rows;
}

export async function run({ quick }) {
  const { rounds, seconds, creates } = quick ? QUICK : FULL;
  const postgres = await durablePostgres();
  if (!postgres) return [{ what: 'two processes on PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
  const notifying = await startServer(postgres.url, { events: {} });
  const rows = [postgres.settings, ...(await creation(notifying, 'PostgreSQL, with events', creates))];
  await notifying.stop();
  const asynchronous = { driver: 'asynchronous' };
  rows.push(
    ...(await creationOn(postgres, 'asynchronous', 'asynchronous driver', asynchronous, creates / 2, creation)),
    ...(await creationOn(postgres, 'without_room', 'no capacity', { hosts: FULL_HOSTS }, creates / 2, failedCreation)),
  );
  const servers = [await startServer(postgres.url), await startServer(postgres.url)];
  try {
    const server = { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' };
    const body = JSON.stringify({ server });
    rows.push(...(await creation(servers[0], 'PostgreSQL', creates)));
    for (const [name, path, options] of [
      ['GET /servers/detail?limit=20', '/v2.1/servers/detail?limit=20', {}],
      ['POST /servers', '/v2.1/servers', { method: 'POST', body }],
    ]) {
      await rate(servers, path, seconds, options);
      const [ours, baseline] = await interleaved(
        rounds,
        () => rate(servers, path, seconds, options),
        () => rate(servers.slice(0, 1), path, seconds, options),
      );
      const what = `${name}, two processes and one`;
      const reason = 'two processes need four processors, because the load generator and PostgreSQL use two';
      rows.push({ what, ours, baseline, unit: 'req/s', budget: '>= 1.7 x (needs 4 processors)', reason });
    }
    return rows;
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
    await postgres.stop();
  }
}
