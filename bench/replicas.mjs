// The effect of a replica on the primary: the primary's CPU time for the reads of one API process with `databaseRead`,
// compared with a process without it, on the same database. The pages and servers were never read before, and there are
// no concurrent writes.
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS, idOf, startServer } from './server-process.mjs';
import { postgresPairs, settingsOf, testServers } from './test-servers.mjs';

const FULL = { servers: 20_000, requests: 200, rounds: 3 };
const QUICK = { servers: 1000, requests: 20, rounds: 2 };
const PER_PROJECT = 100;
/** The number of concurrent clients. */
const CLIENTS = 4;

const randomIndex = (most) => Math.floor(Math.random() * most);

const readsByName = {
  'GET /servers/{id}, any': (servers) => `/servers/${idOf(randomIndex(servers))}`,
  'GET /servers/detail?limit=100 of any project': (servers) =>
    `/servers/detail?limit=100&all_tenants=1&project_id=p${randomIndex(servers / PER_PROJECT)}`,
  'usage of any project': (servers) => `/os-simple-tenant-usage/p${randomIndex(servers / PER_PROJECT)}`,
};

async function sendRequest({ url }, path) {
  const response = await fetch(`${url}/v2.1${path}`, { headers: HEADERS });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

/** Returns milliseconds of the primary's CPU time for one request. */
async function cpuTimePerRequest(primaryPid, server, path, amount) {
  const before = processTime(primaryPid);
  const client = async () => {
    for (let n = 0; n < amount / CLIENTS; n++) await sendRequest(server, path());
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return (processTime(primaryPid) - before) / amount;
}

export async function run({ quick }) {
  const { servers: count, requests, rounds } = quick ? QUICK : FULL;
  const { findProgram } = await testServers();
  if (!findProgram('initdb')) return [{ what: 'replicas', unit: 'skipped: this machine has no PostgreSQL' }];
  const { startPostgresPair } = await postgresPairs();
  const pair = await startPostgresPair(false);
  const opened = [];
  try {
    const alone = await startServer(pair.primaryUrl);
    opened.push(alone);
    const reading = await startServer(pair.primaryUrl, { databaseRead: [pair.standbyUrl] });
    opened.push(reading);
    const projects = count / PER_PROJECT;
    const owners = Array.from({ length: projects }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
    await alone.populate({ count, owners });
    const rows = [await settingsOf(pair.primaryUrl)];
    for (const [what, path] of Object.entries(readsByName)) {
      const measure = (server) => () => cpuTimePerRequest(pair.primaryPid, server, () => path(count), requests);
      // The first measurement is a warm-up.
      await interleaved(1, measure(reading), measure(alone));
      const [ours, baseline] = await interleaved(rounds, measure(reading), measure(alone));
      rows.push({ what: `${what}, with a replica and without`, ours, baseline, unit: 'ms of CPU of the primary' });
    }
    return rows;
  } finally {
    for (const server of opened) await server.stop();
    await pair.stop();
  }
}
