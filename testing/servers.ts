import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as tcpConnect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CONDITION_TIMEOUT_MS } from './condition-timeout.js';

/** A server process that a test has started: its address, and a function that ends it. */
export interface TestServer {
  readonly url: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Returns a free TCP port of the loopback address. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** Starts a server on a free port, and retries on another one if the port has been taken. */
async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let retries = 3; ; retries--) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (retries === 0) throw error;
    }
  }
}

/** The full path of a program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const postgres = '/usr/lib/postgresql';
  const versions = existsSync(postgres) ? readdirSync(postgres).map((v) => join(postgres, v, 'bin')) : [];
  // The search path of users other than root may lack the folders that contain service programs.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...versions];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Waits for output that only the child can produce: another process may listen on its port. */
async function untilReady(child: ChildProcess, what: string, sign: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + CONDITION_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${what} ended with code ${child.exitCode} before it was ready`);
    if (await sign()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} was not ready within ${CONDITION_TIMEOUT_MS / 1000} s`);
}

/** Connects, sends a text and returns the first response; '' if the connection is rejected. */
function firstResponse(port: number, expected: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = tcpConnect(port, '127.0.0.1', () => socket.write(expected));
    socket.setTimeout(CONDITION_TIMEOUT_MS, () => socket.destroy());
    socket.once('data', (response) => {
      resolve(String(response));
      socket.destroy();
    });
    socket.once('error', () => {});
    socket.once('close', () => resolve(''));
  });
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

function createStop(child: ChildProcess, folder: string, signal: NodeJS.Signals): () => Promise<void> {
  return async () => {
    await endProcess(child, signal);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The user for programs that refuse to run as root: the system's unprivileged database user. */
export interface ProgramUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the user for such programs, and makes it the owner of the folder. */
export function programUser(folder: string): ProgramUser {
  const asUser = userInfo().uid === 0 ? unprivileged() : {};
  if (asUser.uid !== undefined) execFileSync('chown', ['-R', String(asUser.uid), folder]);
  return asUser;
}

/** Creates the files of an empty PostgreSQL, with a user `test` without a password. */
export function initPostgres(data: string, options: ProgramUser & { readonly cwd: string }): void {
  execFileSync(
    findProgram('initdb')!,
    ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    { ...options, stdio: 'pipe' },
  );
}

/** Runs PostgreSQL on existing files until it accepts connections. */
export async function runPostgres(
  data: string,
  port: number,
  options: ProgramUser & { readonly cwd: string },
  settings: readonly string[],
): Promise<{ readonly pid: number; readonly end: (signal: NodeJS.Signals) => Promise<void> }> {
  const all = ['shared_buffers=128MB', ...settings].flatMap((setting) => ['-c', setting]);
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', options.cwd, ...all];
  const child = spawn(findProgram('postgres')!, args, { ...options, stdio: 'ignore' });
  const state = join(data, 'postmaster.pid');
  // The first line of this file is the process ID, the last one the state.
  const ready = new RegExp(`^${child.pid}\\n[^]*\\nready\\s*$`);
  await untilReady(child, 'PostgreSQL', () => existsSync(state) && ready.test(readFileSync(state, 'utf8')));
  return { pid: child.pid!, end: (signal) => endProcess(child, signal) };
}

/** Settings of a PostgreSQL whose data need not survive a power failure. */
export const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off'] as const;

/**
 * Starts a separate PostgreSQL server in a temporary folder; returns undefined if PostgreSQL is not installed.
 *
 * @param parent the parent folder of the temporary folder
 * @param settings settings in addition to those of a new installation
 */
export async function startPostgres(
  parent = tmpdir(),
  settings: readonly string[] = NOT_DURABLE,
): Promise<TestServer | undefined> {
  if (!findProgram('initdb') || !findProgram('postgres')) return undefined;
  const folder = mkdtempSync(join(parent, 'apistrata-pg-'));
  const options = { ...programUser(folder), cwd: folder };
  const data = join(folder, 'data');
  initPostgres(data, options);
  const { port, pid, end } = await onFreePort(async (port) => {
    const running = await runPostgres(data, port, options, [...settings, 'max_connections=300']);
    return { port, ...running };
  });
  return {
    url: `postgres://test@127.0.0.1:${port}/postgres`,
    pid,
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a PgBouncer with transaction pooling in front of the PostgreSQL of this URL, for all databases of that server;
 * undefined if it is not installed.
 */
export async function startPgBouncer(server: string): Promise<TestServer | undefined> {
  const program = findProgram('pgbouncer');
  if (!program) return undefined;
  return onFreePort((port) => runPgBouncer(program, server, port));
}

async function runPgBouncer(program: string, server: string, port: number): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-pgbouncer-'));
  const { hostname, port: serverPort } = new URL(server);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    logfile: join(folder, 'log'),
    pool_mode: 'transaction',
    default_pool_size: 5,
    max_client_conn: 500,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(config, `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`);
  writeFileSync(settings.auth_file, '"test" ""\n');
  const child = spawn(program, ['-q', config], { ...programUser(folder), cwd: folder, stdio: 'ignore' });
  await untilReady(
    child,
    'PgBouncer',
    () => existsSync(settings.logfile) && / process up: /.test(readFileSync(settings.logfile, 'utf8')),
  );
  const url = server.replace(/@[^/]*/, `@127.0.0.1:${port}`);
  return { url, pid: child.pid!, stop: createStop(child, folder, 'SIGKILL') };
}

function unprivileged(): { uid?: number; gid?: number } {
  for (const name of ['postgres', 'nobody']) {
    try {
      const uid = Number(execFileSync('id', ['-u', name], { encoding: 'utf8', stdio: 'pipe' }));
      const gid = Number(execFileSync('id', ['-g', name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid, gid };
    } catch {
      // The user does not exist on this machine; the next name may.
    }
  }
  throw new Error('running as root, and no unprivileged user exists to run PostgreSQL as');
}

/** Starts a separate Redis on a free port; undefined if it is not installed. */
export async function startRedis(): Promise<TestServer | undefined> {
  const program = findProgram('redis-server');
  if (!program) return undefined;
  return onFreePort((port) => runRedis(program, port));
}

async function runRedis(program: string, port: number): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn(program, args, { stdio: 'ignore' });
  const sign = `process_id:${child.pid}\r\n`;
  await untilReady(child, 'Redis', async () => (await firstResponse(port, 'INFO server\r\n')).includes(sign));
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: createStop(child, folder, 'SIGTERM') };
}

/** Whether MariaDB is installed. */
export const hasMariadb = (): boolean => Boolean(findProgram('mariadbd') && findProgram('mariadb-install-db'));

/** Creates the files of an empty MariaDB in a folder, with the database `test` and a user `root` without a password. */
export async function initMariadb(options: ProgramUser & { readonly cwd: string }): Promise<void> {
  const places = ['--no-defaults', `--datadir=${join(options.cwd, 'data')}`];
  const args = [...places, '--auth-root-authentication-method=normal'];
  await promisify(execFile)(findProgram('mariadb-install-db')!, args, options);
}

/**
 * Runs MariaDB on the existing files of a folder.
 * @param flush when the log is written: 0 every second, 2 at each commit, 1 at each commit to the disk
 */
export function runMariadb(
  port: number,
  flush: 0 | 1 | 2,
  options: ProgramUser & { readonly cwd: string },
): ChildProcess {
  const folder = options.cwd;
  const places = [`--datadir=${join(folder, 'data')}`, `--port=${port}`, '--bind-address=127.0.0.1'];
  const files = [`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`];
  const settings = [`--innodb-flush-log-at-trx-commit=${flush}`, '--innodb-buffer-pool-size=32M'];
  const args = ['--no-defaults', ...places, ...files, ...settings];
  return spawn(findProgram('mariadbd')!, args, { ...options, stdio: 'ignore' });
}

/** Starts a separate MariaDB on a free port; undefined if it is not installed. */
export async function startMariadb(flush: 0 | 1 = 0): Promise<TestServer | undefined> {
  if (!hasMariadb()) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-mariadb-'));
  const options = { ...programUser(folder), cwd: folder };
  await initMariadb(options);
  return onFreePort(async (port) => {
    const child = runMariadb(port, flush, options);
    const file = join(folder, 'pid');
    // MariaDB writes this file when it accepts connections.
    await untilReady(child, 'MariaDB', () => existsSync(file) && Number(readFileSync(file, 'utf8')) === child.pid);
    return { url: `mysql://root@127.0.0.1:${port}/test`, pid: child.pid!, stop: createStop(child, folder, 'SIGTERM') };
  });
}
