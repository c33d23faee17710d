import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const SAMPLE_MS = 50;

/** Counts the sessions of PostgreSQL that are in use, by what they do. */
const SESSIONS = `select case
    when state like 'idle in transaction%' then 'in a transaction, waiting for the API'
    when wait_event_type is null then 'running a statement'
    when wait_event ilike 'wal%' then 'waiting for the write-ahead log on disk'
    else 'waiting for ' || wait_event_type || ' ' || wait_event end as activity, count(*)::int
  from pg_stat_activity
  where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()
  group by 1`;

/** Returns the milliseconds for which the main thread of a process has run, and has waited for a processor. */
function mainThread(pid) {
  const [running, waiting] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { running: Number(running) / 1e6, waiting: Number(waiting) / 1e6 };
}

/** Returns whether any thread of a process waits for the disk. */
function waitsForDisk(pid) {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return text[text.lastIndexOf(')') + 2] === 'D';
    } catch {
      // The thread has ended in the meantime.
      return false;
    }
  });
}

const shown = (number) => Number(number.toPrecision(2));

/**
 * Watches the processes of an API and the sessions of its PostgreSQL database. Linux only.
 *
 * @param database the URL of the database; undefined for SQLite
 * @returns a function that ends the watch and returns what was waited for, as a text: the busiest event loop, the disk,
 *   and the mean number of sessions in use
 */
export async function watchWaits(pids, database) {
  const client = database && new pg.Client(database);
  await client?.connect();
  const begun = performance.now();
  const before = pids.map(mainThread);
  const sessions = new Map();
  let samples = 0;
  let onDisk = 0;
  let ended = false;
  const watching = (async () => {
    for (; !ended; samples++) {
      if (pids.some(waitsForDisk)) onDisk++;
      const { rows } = (await client?.query(SESSIONS)) ?? { rows: [] };
      for (const { activity, count } of rows) sessions.set(activity, (sessions.get(activity) ?? 0) + count);
      await sleep(SAMPLE_MS);
    }
  })();
  watching.catch(() => {});
  return async () => {
    ended = true;
    const elapsedMs = performance.now() - begun;
    const percent = (ms) => Math.round((ms / elapsedMs) * 100);
    const [busiest] = pids
      .map(mainThread)
      .map(({ running, waiting }, index) => [running - before[index].running, waiting - before[index].waiting])
      .sort(([a, b], [c, d]) => c + d - a - b);
    await watching;
    await client?.end();
    const inUse = [...sessions].sort(([, a], [, b]) => b - a);
    const total = inUse.reduce((sum, [, count]) => sum + count, 0);
    const activities = inUse.map(([activity, count]) => `${shown(count / samples)} ${activity}`);
    const what = activities.length > 0 ? `: ${activities.join(', ')}` : '';
    return [
      `the busiest event loop runs for ${percent(busiest[0])} % and waits for a processor for ${percent(busiest[1])} %`,
      `a thread of the API waits for the disk for ${Math.round((onDisk / samples) * 100)} %`,
      ...(client ? [`${shown(total / samples)} database sessions are in use${what}`] : []),
    ].join('; ');
  };
}
