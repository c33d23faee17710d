// Creates of servers by many clients: how many a second, and how long each takes.
import { load } from './load.mjs';
import { inTurns } from './samples.mjs';
import { HEADERS } from './server-process.mjs';

const CLIENTS = 32;
const ROUNDS = 4;
const WARM = 400;
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const BODY = JSON.stringify({ server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none' } });
const POST = { method: 'POST', headers: HEADERS, body: BODY };

async function answer(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Milliseconds until a server that is asked for is seen to be ACTIVE, by a client that asks again at once until it is. */
async function untilActive(url) {
  const begun = performance.now();
  const { server } = await answer(`${url}/v2.1/servers`, POST);
  for (;;) {
    const { status } = (await answer(`${url}/v2.1/servers/${server.id}`, { headers: HEADERS })).server;
    if (status === 'ACTIVE') return performance.now() - begun;
    if (status !== 'BUILD') throw new Error(`a server became ${status}`);
  }
}

/** The time within which 99 of 100 of so many servers are seen to be ACTIVE. */
async function slowestActive(url, amount) {
  let left = amount;
  const times = [];
  const client = async () => {
    while (left-- > 0) times.push(await untilActive(url));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times.sort((a, b) => a - b)[Math.ceil(amount * 0.99) - 1];
}

/**
 * Rows about the creates of one server process (`startServer`), a quarter of `amount` in each turn.
 *
 * @param where what is said of the process and its database
 */
export async function creation(server, where, amount) {
  const part = Math.ceil(amount / ROUNDS);
  const slowest = [];
  const create = async (some) => {
    const begun = performance.now();
    const { latency } = await load(`${server.url}/v2.1/servers`, { ...POST, connections: CLIENTS, amount: some });
    await server.get('/idle');
    return { rate: some / ((performance.now() - begun) / 1000), latency };
  };
  await create(Math.min(WARM, amount));
  await slowestActive(server.url, Math.min(WARM, part));
  const [rates, active] = await inTurns(
    ROUNDS,
    async () => {
      const { rate, latency } = await create(part);
      slowest.push(latency.p99);
      return rate;
    },
    () => slowestActive(server.url, part),
  );
  const { servers } = await server.get('/v2.1/servers/detail?limit=1000');
  if (servers.some(({ status }) => status !== 'ACTIVE')) throw new Error('not every server became ACTIVE');
  return [
    { what: `POST /servers until ACTIVE, ${where}`, ours: rates, unit: 'servers/s', budget: '>= 1000/s' },
    {
      what: `POST /servers answered, ${CLIENTS} clients, ${where}, p99`,
      ours: slowest,
      unit: 'ms',
      budget: '<= 60 ms',
    },
    { what: `a server seen to be ACTIVE, ${CLIENTS} clients, ${where}, p99`, ours: active, unit: 'ms' },
  ];
}
