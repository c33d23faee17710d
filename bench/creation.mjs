// The throughput and latency of server creation with many clients.
import { load } from './load.mjs';
import { processTime } from './process-time.mjs';
import { interleaved } from './samples.mjs';
import { HEADERS } from './server-process.mjs';

const CLIENTS = 32;
/** Measurements with fewer clients: their share of the creates, and their budgets. */
const FEWER = [
  { by: '8 clients', clients: 8, part: 0.25, rateBudget: '>= 1000/s', cpuBudget: '' },
  { by: '1 client', clients: 1, part: 0.05, rateBudget: '>= 300/s', cpuBudget: '<= 3 ms' },
];
/** Why creates miss their budgets. */
const MANY = 'the load generator, the API and the database share the processors';
const FEW = 'each creation waits for its own commits and, on PostgreSQL, for its round trips';
const POLLING = '32 clients that poll without delay share the processors with the creates';
const ROUNDS = 4;
const WARM = 400;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
const POST = { method: 'POST', headers: HEADERS, body: BODY };

async function fetchJson(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Returns the milliseconds from a create request until the server is ACTIVE, for a client that polls without delay. */
async function untilActive(url) {
  const begun = performance.now();
  const { server } = await fetchJson(`${url}/v2.1/servers`, POST);
  for (;;) {
    const { status } = (await fetchJson(`${url}/v2.1/servers/${server.id}`, { headers: HEADERS })).server;
    if (status === 'ACTIVE') return performance.now() - begun;
    if (status !== 'BUILD') throw new Error(`a server became ${status}`);
  }
}

/** Returns the time within which 99 of 100 servers are observed as ACTIVE. */
async function slowestActive(url, amount) {
  let left = amount;
  const times = [];
  const client = async () => {
    while (left-- > 0) times.push(await untilActive(url));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times.sort((a, b) => a - b)[Math.ceil(amount * 0.99) - 1];
}

/** Creates servers until all are ACTIVE; each client waits for a response before its next request. */
async function create(server, clients, amount) {
  const startedAt = performance.now();
  const cpuBefore = processTime(server.pid);
  const { latency } = await load(`${server.url}/v2.1/servers`, {
    ...POST,
    connections: Math.min(clients, amount),
    amount,
  });
  await server.get('/idle');
  const rate = amount / ((performance.now() - startedAt) / 1000);
  return { rate, cpu: (processTime(server.pid) - cpuBefore) / amount, slowest: latency.p99 };
}

/** A host that has no capacity for any server. */
export const FULL_HOSTS = [{ name: 'full', vcpus: 1, memoryMb: 1, diskGb: 1 }];

/** Checks the states of the newest servers. @throws Error if a server has another state */
async function checkStatus(server, expected) {
  const { servers } = await server.get('/v2.1/servers/detail?limit=1000');
  const other = servers.find(({ status }) => status !== expected);
  if (other) throw new Error(`a server became ${other.status} instead of ${expected}`);
}

/** Returns the value of one figure in each sample. */
const valuesOf = (name, samples) => samples.map((sample) => sample[name]);

/** Returns the result rows for one entry of `FEWER`. */
async function creationByFewClients({ by, clients, part, rateBudget, cpuBudget }, server, label, amount) {
  const some = Math.ceil((amount * part) / ROUNDS);
  await create(server, clients, some);
  const [samples] = await interleaved(ROUNDS, () => create(server, clients, some));
  return [
    {
      what: `POST /servers until ACTIVE, ${by}, ${label}`,
      ours: valuesOf('rate', samples),
      unit: 'servers/s',
      budget: rateBudget,
      reason: FEW,
    },
    {
      what: `time of the API for each, ${by}, ${label}`,
      ours: valuesOf('cpu', samples),
      unit: 'ms of CPU',
      budget: cpuBudget,
      reason: FEW,
    },
  ];
}

/**
 * Returns the result rows for servers that one server process (`startServer`) creates. Each sample creates a quarter of
 * `amount` servers.
 *
 * @param label description of the process and its database in the rows
 */
export async function creation(server, label, amount) {
  const part = Math.ceil(amount / ROUNDS);
  await create(server, CLIENTS, Math.min(WARM, amount));
  await slowestActive(server.url, Math.min(WARM, part));
  const [samples, active] = await interleaved(
    ROUNDS,
    () => create(server, CLIENTS, part),
    () => slowestActive(server.url, part),
  );
  const fewClients = [];
  for (const fewer of FEWER) fewClients.push(...(await creationByFewClients(fewer, server, label, amount)));
  await checkStatus(server, 'ACTIVE');
  return [
    {
      what: `POST /servers until ACTIVE, ${label}`,
      ours: valuesOf('rate', samples),
      unit: 'servers/s',
      budget: '>= 1500/s',
      reason: MANY,
    },
    { what: `time of the API for each, ${label}`, ours: valuesOf('cpu', samples), unit: 'ms of CPU' },
    {
      what: `POST /servers response, ${CLIENTS} clients, ${label}, p99`,
      ours: valuesOf('slowest', samples),
      unit: 'ms',
      budget: '<= 60 ms',
      reason: MANY,
    },
    {
      what: `a server observed as ACTIVE, ${CLIENTS} clients, ${label}, p99`,
      ours: active,
      unit: 'ms',
      budget: '<= 60 ms',
      reason: POLLING,
    },
    ...fewClients,
  ];
}

/** Returns the result rows for servers that end in ERROR, because the server process was started with `FULL_HOSTS`. */
export async function failedCreation(server, label, amount) {
  const part = Math.ceil(amount / ROUNDS);
  await create(server, CLIENTS, Math.min(WARM, part));
  const [samples] = await interleaved(ROUNDS, () => create(server, CLIENTS, part));
  await checkStatus(server, 'ERROR');
  return [
    { what: `POST /servers until ERROR, ${label}`, ours: valuesOf('rate', samples), unit: 'servers/s' },
    { what: `time of the API for each in ERROR, ${label}`, ours: valuesOf('cpu', samples), unit: 'ms of CPU' },
  ];
}
