// Maintenance of a large database on PostgreSQL: vacuum, purge, backup, and the memory of the processes.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { processTime } from './process-time.mjs';
import { idOf, SECRET_KEY } from './server-process.mjs';

const MAIN = join(import.meta.dirname, '../examples/reference-server/dist/main.js');
const MIB = 2 ** 20;
const DAY_MS = 86_400_000;

const run = promisify(execFile);

/** Runs a command for administrators on a database. */
async function admin(url, args) {
  const env = { ...process.env, APISTRATA_SECRET_KEY: SECRET_KEY };
  const { stdout } = await run(process.execPath, [MAIN, 'admin', ...args, '--db', url, '--json'], { env });
  return JSON.parse(stdout);
}

async function onConnection(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the duration of the work and the database's CPU time, in seconds. */
async function secondsOf({ postgres }, work) {
  const before = processTime(postgres.pid);
  const begun = performance.now();
  await work();
  return { seconds: (performance.now() - begun) / 1000, cpu: (processTime(postgres.pid) - before) / 1000 };
}

const vacuum = (opened) =>
  secondsOf(opened, () => onConnection(opened.postgres.url, (client) => client.query('vacuum (analyze)')));

/** Marks the first servers as deleted a day ago, as the engine does, and purges them. */
async function purge(opened, amount) {
  const { url } = opened.postgres;
  const ids = Array.from({ length: amount }, (_, index) => idOf(index));
  const at = Date.now() - DAY_MS;
  const changes = { vmState: 'deleted', powerState: 0, deleted: true, claims: [], updatedAt: at, terminatedAt: at };
  await onConnection(url, (client) =>
    client.query(
      `update servers set vm_state = 'deleted', deleted = 1, updated_at = $2, terminated_at = $2, revision = revision + 1,
         data = (data::jsonb || $3::jsonb)::text where id = any($1)`,
      [ids, at, JSON.stringify(changes)],
    ),
  );
  let purged;
  const duration = await secondsOf(opened, async () => {
    purged = await admin(url, ['db', 'purge', '--older-than', '12h']);
  });
  if (purged.servers !== amount) throw new Error(`${purged.servers} servers were purged instead of ${amount}`);
  return duration;
}

/** Writes a backup. Returns the duration, the database's CPU time and the size of the backup. */
async function backup(opened) {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-backup-'));
  try {
    const file = join(folder, 'backup.dump');
    const duration = await secondsOf(opened, () => admin(opened.postgres.url, ['db', 'backup', file]));
    return { ...duration, bytes: statSync(file).size };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the resident memory of the API process in MiB. */
function apiMemory({ server }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

/** Measures maintenance of a large and a small database, one after the other. */
export async function maintenanceRows(large, small, purged) {
  const rows = [];
  const add = async (what, measure) => {
    const [ours, baseline] = [await measure(large), await measure(small)];
    rows.push({ what, ours: ours.seconds, baseline: baseline.seconds, unit: 's' });
    rows.push({ what: `${what}: the database`, ours: ours.cpu, baseline: baseline.cpu, unit: 's of CPU' });
    return { ours, baseline };
  };
  const memory = { ours: apiMemory(large), baseline: apiMemory(small), unit: 'MiB' };
  rows.push({ what: 'memory of the API process after these requests', ...memory });
  await add(`db purge of ${purged.toLocaleString('en')} deleted servers`, (opened) => purge(opened, purged));
  await add('vacuum (analyze) after it', vacuum);
  const { ours, baseline } = await add('db backup', backup);
  const size = { ours: ours.bytes / MIB, baseline: baseline.bytes / MIB, unit: 'MiB' };
  return [...rows, { what: 'size of the backup', ...size }];
}
