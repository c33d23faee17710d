// Live migrations of a guest between two host programs: the downtime that QEMU reports, and the longest gap in the
// guest's output.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { noMachines } from '@apistrata/compute-engine/drivers';
import { now, serveApi, textOf, until, withFolder } from './qemu-api.mjs';
import { GUEST_MIB, openEngine, RUN_AS } from './qemu-cloud.mjs';
import { durablePostgres } from './test-servers.mjs';
import { importTypeScript } from './typescript-modules.mjs';

const HOST_PROGRAM = join(import.meta.dirname, '../packages/qemu/test/host-process.mjs');
const HOSTS = ['h1', 'h2'];
/** Prints numbers, one every 10 ms. Waits for input that never comes, because starting a program takes longer. */
const COUNTER = 'sleep 100000 | (n=0; while :; do n=$((n + 1)); echo "TICK $n"; read -t 0.01 x; done) &';
const POLL_MS = 2;
const MOVE_TIMEOUT_MS = 60_000;
/** How long the guest's output is observed before each migration. */
const BEFORE_MS = 2_000;

/** Returns the complete lines that were appended to a file since the last call. The file may be missing. */
function readNewLines(file) {
  let descriptor;
  try {
    descriptor = openSync(file.path);
  } catch {
    Object.assign(file, { position: 0, rest: '' });
    return [];
  }
  const buffer = Buffer.alloc(2 ** 16);
  const bytes = readSync(descriptor, buffer, 0, buffer.length, file.position);
  closeSync(descriptor);
  file.position += bytes;
  const lines = (file.rest + buffer.toString('latin1', 0, bytes)).split('\n');
  file.rest = lines.pop();
  return lines;
}

/** Observes the numbers that a guest prints, in the console logs of all hosts on which the guest may run. */
class Output {
  #files;
  #last = 0;
  #lastTime = now();
  #longestGap = 0;
  #timer = setInterval(() => this.#read(), POLL_MS);

  constructor(paths) {
    this.#files = paths.map((path) => ({ path, position: 0, rest: '' }));
  }

  #read() {
    for (const file of this.#files) {
      // A destination host copies the earlier output, so only higher numbers are new.
      const highest = Math.max(0, ...readNewLines(file).map((line) => Number(/^TICK (\d+)\r?$/.exec(line)?.[1] ?? 0)));
      if (highest <= this.#last) continue;
      this.#longestGap = Math.max(this.#longestGap, now() - this.#lastTime);
      this.#last = highest;
      this.#lastTime = now();
    }
  }

  #nextNumber() {
    const last = this.#last;
    return until('the guest prints a number', () => this.#last > last, POLL_MS);
  }

  /** Returns the longest gap in the output from the start of a function until the first output after its end. */
  async gapDuring(work) {
    await this.#nextNumber();
    this.#longestGap = 0;
    await work();
    await this.#nextNumber();
    return this.#longestGap;
  }

  close() {
    clearInterval(this.#timer);
  }
}

/** Starts a host program, and returns a function that ends it. */
async function startHost(database, name, directory, acceleration) {
  const options = { driver: { acceleration, shutdownTimeoutMs: 0, runAs: RUN_AS } };
  const child = fork(HOST_PROGRAM, [database, name, join(directory, name), JSON.stringify(options)], { silent: true });
  child.stderr.pipe(process.stderr);
  const ended = once(child, 'exit');
  const failure = ended.then(([code]) => Promise.reject(new Error(`the host program exited with ${code}`)));
  await Promise.race([once(child.stdout, 'data'), failure]);
  failure.catch(() => {});
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}

/** Starts a guest that prints numbers. Returns the id of its server. */
async function startGuest(api, folderOf) {
  let id;
  // The engine detects new hosts shortly after their start.
  await until(
    'a host accepts the server',
    async () => {
      id = await api.create({ host: HOSTS[0] }).catch(() => undefined);
      return id !== undefined;
    },
    200,
  );
  const folder = folderOf(HOSTS[0], id);
  await until('the guest has booted', () => textOf(join(folder, 'console.log')).includes('GUEST ready'));
  const { GuestLine } = await importTypeScript('packages/qemu/test/guest/guest-line');
  const line = await GuestLine.open(join(folder, 'serial'));
  await line.run(COUNTER);
  line.close();
  return id;
}

/** Connects to a machine's control socket that the driver uses only for fencing, calls a function, and disconnects. */
async function withQmp(folder, work) {
  const { QmpClient } = await importTypeScript('packages/qemu/src/qmp/qmp-client');
  const qmp = await QmpClient.connect(join(folder, 'guard'));
  try {
    return await work(qmp);
  } finally {
    qmp.close();
  }
}

/** Migrates a server, and returns the time of the switchover in milliseconds as the source machine reports it. */
async function migrate(api, id, folder, host) {
  const downtime = await withQmp(folder, async (qmp) => {
    const isCompleted = ({ event, data }) => event === 'MIGRATION' && data.status === 'completed';
    const completion = qmp.waitFor(isCompleted, AbortSignal.timeout(MOVE_TIMEOUT_MS));
    await Promise.all([completion, api.act(id, 'os-migrateLive', { host, block_migration: 'auto' })]);
    return (await qmp.execute('query-migrate')).downtime;
  });
  const isMoved = async () => {
    const server = await api.read(id);
    if (server.fault) throw new Error(server.fault.message);
    return server.status === 'ACTIVE' && server['OS-EXT-SRV-ATTR:host'] === host;
  };
  await until('the migration has ended', isMoved, 50);
  return downtime;
}

/** Migrates a guest several times. Returns the times of the switchoverTimes, and the gaps in the output. */
async function migrateRepeatedly(api, id, folders, moves) {
  const output = new Output(HOSTS.map((host) => join(folders[host], 'console.log')));
  const found = { switchoverTimes: [], gaps: [], gapsBefore: [] };
  for (let move = 0; move < moves; move++) {
    const [source, destination] = move % 2 === 0 ? HOSTS : HOSTS.toReversed();
    found.gapsBefore.push(await output.gapDuring(() => sleep(BEFORE_MS)));
    const work = async () => found.switchoverTimes.push(await migrate(api, id, folders[source], destination));
    found.gaps.push(await output.gapDuring(work));
  }
  output.close();
  return found;
}

/** Measures live migrations, and returns the rows. @param label the acceleration */
export async function measureMoves({ guest, acceleration, label, moves }) {
  const postgres = await durablePostgres();
  if (!postgres) return [{ what: 'live migrations', unit: 'skipped: this machine has no PostgreSQL' }];
  const { mustPauseBeforeSwitchover } = await importTypeScript('packages/qemu/src/qmp/memory-move');
  process.env.APISTRATA_SECRET_KEY ??= randomBytes(32).toString('base64');
  try {
    return await withFolder(async (directory) => {
      const api = await serveApi(await openEngine({ database: postgres.url, driver: noMachines() }, guest));
      const hosts = await Promise.all(HOSTS.map((name) => startHost(postgres.url, name, directory, acceleration)));
      const folderOf = (host, id) => join(directory, host, 'machines', id);
      const id = await startGuest(api, folderOf);
      const folders = Object.fromEntries(HOSTS.map((host) => [host, folderOf(host, id)]));
      const isPaused = await withQmp(folders[HOSTS[0]], mustPauseBeforeSwitchover);
      const { switchoverTimes, gaps, gapsBefore } = await migrateRepeatedly(api, id, folders, moves);
      await api.clear();
      for (const stop of hosts) await stop();
      await api.close();
      const pause = isPaused ? '; paused while its memory is sent' : '';
      const what = `live migration of a guest with ${GUEST_MIB} MiB (${label}${pause})`;
      const gap = `longest gap in the guest's output, and in ${BEFORE_MS / 1000} s without a migration`;
      return [
        { what: `${what}: downtime of the switchover, as QEMU reports it`, ours: switchoverTimes, unit: 'ms' },
        { what: `${what}: ${gap}`, ours: gaps, baseline: gapsBefore, unit: 'ms' },
      ];
    });
  } finally {
    await postgres.stop();
  }
}
