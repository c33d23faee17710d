import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ProjectQuotas, QuotaStore } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { mysql, postgres, sqlStore } from '@apistrata/quota/sql';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { eventually } from '../../../testing/eventually.js';
import { findProgram, freePort, hasMariadb, initMariadb, programUser, runMariadb } from '../../../testing/servers.js';

export interface WorkerMessage {
  readonly ready?: true;
  readonly done?: true;
  readonly committed?: number;
  readonly statuses?: Readonly<Record<string, number>>;
}

/**
 * A store that several processes share: a function with which this process opens it, and the configuration with which
 * workers open it.
 */
export interface SharedStore {
  readonly job: { readonly store: 'postgres' | 'mariadb' | 'redis'; readonly url: string; readonly name: string };
  /** @param aheadMs advances the clock, so that abandoned reservations have expired */
  open(aheadMs?: number): QuotaStore;
  close(): Promise<void>;
}

/** Creates an empty store in a PostgreSQL server. */
export async function sharedPostgres(url: string): Promise<SharedStore> {
  const name = `shared_${process.pid}_${Date.now()}_`;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  const store = sqlStore({ database: postgres(pool), tablePrefix: name });
  // A server that accepts connections may still be starting.
  await eventually(() => store.createSchema());
  return {
    job: { store: 'postgres', url, name },
    open: (aheadMs) => sqlStore({ database: postgres(pool), tablePrefix: name, clock: aheadClock(aheadMs) }),
    close: () => pool.end(),
  };
}

/** Creates an empty store in a MariaDB server. */
export async function sharedMariadb(url: string): Promise<SharedStore> {
  const name = `shared_${process.pid}_${Date.now()}_`;
  const pool = createPool({ uri: url, connectionLimit: 2 });
  const store = sqlStore({ database: mysql(pool), tablePrefix: name });
  await eventually(() => store.createSchema());
  return {
    job: { store: 'mariadb', url, name },
    open: (aheadMs) => sqlStore({ database: mysql(pool), tablePrefix: name, clock: aheadClock(aheadMs) }),
    close: () => pool.end(),
  };
}

/** Creates an empty store in a Redis server. */
export async function sharedRedis(url: string): Promise<SharedStore> {
  const name = `{shared-${process.pid}-${Date.now()}}:`;
  const client = new Redis(url);
  client.on('error', () => undefined);
  return {
    job: { store: 'redis', url, name },
    open: (aheadMs) => redisStore({ client, keyPrefix: name, clock: aheadClock(aheadMs) }),
    close: async () => void (await client.quit()),
  };
}

function aheadClock(aheadMs: number | undefined): (() => number) | undefined {
  return aheadMs === undefined ? undefined : () => Date.now() + aheadMs;
}

const running = new Set<Worker>();

/** Kills all remaining workers. */
export async function killWorkers(): Promise<void> {
  await Promise.all([...running].map((worker) => worker.kill()));
}

/** Starts workers with the same job at the same time. */
export async function startWorkers(count: number, job: object): Promise<Worker[]> {
  const workers = Array.from({ length: count }, () => new Worker());
  await Promise.all(workers.map((worker) => worker.next('ready')));
  for (const worker of workers) worker.send(job);
  return workers;
}

export class Worker {
  readonly process: ChildProcess = fork(join(import.meta.dirname, 'worker.mjs'), { execArgv: [] });
  committed = 0;
  readonly #messages: WorkerMessage[] = [];
  readonly #exited = once(this.process, 'exit');

  constructor() {
    running.add(this);
    this.process.on('message', (message: WorkerMessage) => {
      if (message.committed) this.committed += message.committed;
      else this.#messages.push(message);
    });
  }

  send(message: object): void {
    this.process.send(message);
  }

  /** Returns the next message that contains this part. */
  async next<K extends keyof WorkerMessage>(part: K): Promise<NonNullable<WorkerMessage[K]>> {
    for (;;) {
      const index = this.#messages.findIndex((message) => message[part] !== undefined);
      if (index >= 0) return this.#messages.splice(index, 1)[0]![part]!;
      if (this.process.exitCode !== null) throw new Error(`A worker exited with code ${this.process.exitCode}`);
      await Promise.race([once(this.process, 'message'), this.#exited]);
    }
  }

  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGKILL');
    await this.#exited;
    running.delete(this);
  }
}

/** Returns the usage of the one kind that these tests count. */
export async function secretsOf(quota: ProjectQuotas, project: string) {
  const { used, reserved } = (await quota.usage(project)).secrets!;
  return { used, reserved };
}

/** A server of this test that can crash and restart with its data. */
export interface RestartableServer {
  readonly url: string;
  start(): Promise<void>;
  crash(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a Redis that persists before it replies; undefined if it is not installed. */
export async function restartableRedis(): Promise<RestartableServer | undefined> {
  const program = findProgram('redis-server');
  if (!program) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'quota-redis-'));
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...durable];
  return restartable(`redis://127.0.0.1:${port}`, port, folder, 'SIGKILL', () =>
    spawn(program, args, { stdio: 'ignore' }),
  );
}

/** Starts a PostgreSQL that persists before it replies; undefined if it is not installed. */
export async function restartablePostgres(): Promise<RestartableServer | undefined> {
  const [initdb, program] = [findProgram('initdb'), findProgram('postgres')];
  if (!initdb || !program) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'quota-pg-'));
  const data = join(folder, 'data');
  // PostgreSQL does not run as root.
  const user = userInfo().uid === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined) execFileSync('chown', ['-R', String(user.uid), folder]);
  execFileSync(initdb, ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...user, cwd: folder });
  // A crash of the process loses nothing that the operating system has buffered; only a crash of the machine would
  // require fsync.
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-c', 'fsync=off'];
  const url = `postgres://test@127.0.0.1:${port}/postgres`;
  return restartable(url, port, folder, 'SIGQUIT', () =>
    spawn(program, args, { ...user, cwd: folder, stdio: 'ignore' }),
  );
}

/** Starts a MariaDB that persists before it replies; undefined if it is not installed. */
export async function restartableMariadb(): Promise<RestartableServer | undefined> {
  if (!hasMariadb()) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'quota-mariadb-'));
  const options = { ...programUser(folder), cwd: folder };
  await initMariadb(options);
  return restartable(`mysql://root@127.0.0.1:${port}/test`, port, folder, 'SIGKILL', () =>
    runMariadb(port, 2, options),
  );
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
}

function restartable(
  url: string,
  port: number,
  folder: string,
  signal: NodeJS.Signals,
  run: () => ChildProcess,
): RestartableServer {
  let child: ChildProcess | undefined;
  const crash = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    url,
    async start() {
      child = run();
      while (!(await isListening(port))) {
        if (child.exitCode !== null) throw new Error(`${url} exited with code ${child.exitCode}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    crash,
    async remove() {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
