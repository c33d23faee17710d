// A mixed load on the reference server with SQLite and PostgreSQL: 1,000 projects on 100 hosts, with 95 % reads and 5 %
// writes that were recorded from clients (client-sessions.json), at fixed rates. The load generator is a separate
// process, and the load is open: each request is scheduled for a fixed time, from which its latency is measured.
//
// BENCH_SERVERS=N changes the number of servers, and BENCH_SECONDS=N changes the duration of each rate; the warm-up and
// the loads that search for the knee last at most half a minute.
// BENCH_SOAK=MINUTES instead sends requests at one rate for that long, and reports the memory in each minute.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMixedCloud } from './mixed-cloud.mjs';
import { measureLoad, quantile, startGenerator } from './mixed-measure.mjs';
import { soak } from './soak.mjs';
import { durablePostgres } from './test-servers.mjs';

const { BENCH_SERVERS = 100_000, BENCH_SECONDS = 8, BENCH_SOAK = 0 } = process.env;
const FULL = { servers: Number(BENCH_SERVERS), seconds: Number(BENCH_SECONDS) };
const QUICK = { servers: 5000, seconds: 3 };
/** The maximum duration of a load whose results are not listed. */
const MOST_SECONDS = 30;
const RATES = [300, 600, 1000];
/** The knee is the highest rate below which no measured rate has failed requests or a p99 of at least this time. */
const KNEE_MS = 100;
/** The lowest rate of the search, if the lowest of `RATES` is above the knee. */
const LOWEST_RATE = 100;
/** Each step of the search raises the rate by this factor, up to the lowest of `RATES` that is above the knee. */
const STEP = 1.25;
const MAX_STEPS = 10;
const BUSY_PERCENT = 85;
/** Why the API misses its memory budget. */
const MEMORY = 'the young generation of the heap, which V8 enlarges to up to 128 MiB; each process has its own';

const shown = (number) => Number(number.toPrecision(4));

/** Returns the rows of one rate. The percentiles of an operation share a row, because there are many operations. */
function rowsOf(what, rate, { latencies, all, errors, failed, cpu, idle, waits, memory }) {
  const begin = `${what}, ${rate}/s`;
  for (const error of errors) console.error(`${begin}: ${error}`);
  const ms = (sorted, part) => shown(quantile(sorted, part));
  return [
    ...[0.5, 0.99, 0.999].map((part) => ({
      what: `${begin}: all operations, p${part * 100}`,
      ours: ms(all, part),
      unit: 'ms',
    })),
    ...latencies.map(([operation, sorted]) => ({
      what: `${begin}: ${operation}, p50 of ${sorted.length}`,
      ours: ms(sorted, 0.5),
      unit: `ms; p99 ${ms(sorted, 0.99)}, p99.9 ${ms(sorted, 0.999)}`,
    })),
    { what: `${begin}: errors`, ours: failed, unit: 'sessions', budget: '<= 0' },
    ...Object.entries(cpu).map(([name, ours]) => ({
      what: `${begin}: CPU time of the ${name}`,
      ours,
      unit: '%',
    })),
    { what: `${begin}: idle processors of the machine`, ours: idle, unit: '%' },
    { what: `${begin}: waits`, unit: waits },
    {
      what: `${begin}: memory of the API`,
      ours: memory / 2 ** 20,
      unit: 'MiB',
      budget: '<= 200 MiB',
      reason: MEMORY,
    },
  ];
}

/** Returns the bottleneck of a cloud under a load, as the text of a row. */
function bottleneckOf({ cpu, idle, waits }) {
  const [[name, most]] = Object.entries(cpu).sort(([, a], [, b]) => b - a);
  const used = `the ${name} uses ${Math.round(most)} % of a processor, and ${Math.round(idle)} % are idle; ${waits}`;
  if (most >= BUSY_PERCENT) return `limited by the ${name}: ${used}`;
  return `limited by ${idle < 100 - BUSY_PERCENT ? 'the processors of the machine' : 'waiting'}: ${used}`;
}

const p99Of = ({ all }) => quantile(all, 0.99);
const isAboveKnee = (measured) => measured.failed > 0 || p99Of(measured) >= KNEE_MS;

/**
 * Finds the knee between the measured `RATES`: raises the rate from the highest one below the knee until a load is above
 * the knee.
 *
 * @param results the results by rate, in ascending order
 */
async function findKnee(what, cloud, generator, results, seconds) {
  const firstAbove = [...results].find(([, measured]) => isAboveKnee(measured));
  const below = [...results.keys()].filter((rate) => !firstAbove || rate < firstAbove[0]);
  let knee = below.at(-1) ?? 0;
  let rate = knee > 0 ? Math.round(knee * STEP) : LOWEST_RATE;
  let above;
  for (let step = 0; !above && step < MAX_STEPS; step++) {
    const isKnown = firstAbove && rate >= firstAbove[0];
    const measured = isKnown ? firstAbove[1] : await measureLoad(cloud, generator, { rate, seconds, seed: 100 + step });
    if (isAboveKnee(measured)) above = { rate: isKnown ? firstAbove[0] : rate, measured };
    else [knee, rate] = [rate, Math.round(rate * STEP)];
  }
  const row = { what: `${what}: knee`, ours: knee, unit: 'requests/s' };
  if (!above) return [row, { what: `${what}: above the knee`, unit: 'not reached' }];
  for (const error of above.measured.errors) console.error(`${what}, ${above.rate}/s: ${error}`);
  const end = `at ${above.rate}/s, ${above.measured.failed} sessions fail, ${bottleneckOf(above.measured)}`;
  return [row, { what: `${what}: above the knee, p99`, ours: shown(p99Of(above.measured)), unit: `ms; ${end}` }];
}

async function measure(what, cloud, generator, { seconds }) {
  const shortSeconds = Math.min(seconds, MOST_SECONDS);
  // A warm-up: schemas and renderers are built, and the JIT compiler optimizes the code.
  await measureLoad(cloud, generator, { rate: RATES[0], seconds: shortSeconds, seed: 1 });
  const results = new Map();
  for (const rate of RATES) results.set(rate, await measureLoad(cloud, generator, { rate, seconds, seed: rate }));
  const rows = [...results].flatMap(([rate, measured]) => rowsOf(what, rate, measured));
  rows.push(...(await findKnee(what, cloud, generator, results, shortSeconds)));
  rows.push({ what: `${what}: servers in ERROR`, ours: await cloud.failedServers(), unit: 'servers', budget: '<= 0' });
  return rows;
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const minutes = Number(BENCH_SOAK);
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-mixed-'));
  const generator = startGenerator();
  const rows = [];
  const withCloud = async (what, options) => {
    const cloud = await openMixedCloud({ folder, servers: amounts.servers, inspected: minutes > 0, ...options });
    try {
      const measured = minutes ? soak(what, cloud, generator, minutes) : measure(what, cloud, generator, amounts);
      rows.push(...(await measured));
    } finally {
      await cloud.stop();
    }
  };
  try {
    await withCloud('SQLite file', { database: join(folder, 'servers.db') });
    // Memory is measured for a single process, so a soak has no workers.
    for (const args of minutes ? [[]] : [[], ['--workers', '2']]) {
      const postgres = await durablePostgres();
      if (!postgres) return [...rows, { what: 'PostgreSQL', unit: 'skipped: this machine has no PostgreSQL' }];
      if (args.length === 0) rows.push(postgres.settings);
      try {
        const what = ['PostgreSQL', ...args].join(' ');
        await withCloud(what, { database: postgres.url, databasePid: postgres.pid, args });
      } finally {
        await postgres.stop();
      }
    }
    return rows;
  } finally {
    generator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
