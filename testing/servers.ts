import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as tcpConnect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { PATIENCE_MS } from './patience.js';

/** A server process a test started itself: where it listens, and how to end it. */
export interface TestServer {
  readonly url: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** A TCP port of the loopback address that nobody listens on. */
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

/** Starts what listens on a free port, and once more on another one where somebody was faster to take that. */
async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let others = 3; ; others--) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (others === 0) throw error;
    }
  }
}

/** The full path of a program, or undefined where the machine has none. */
export function findProgram(name: string): string | undefined {
  const postgres = '/usr/lib/postgresql';
  const versions = existsSync(postgres) ? readdirSync(postgres).map((v) => join(postgres, v, 'bin')) : [];
  // Users other than root need not have the programs of services in their path.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...versions];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Waits for a sign that only the child can give: on its port may listen who was there before it. */
async function untilReady(child: ChildProcess, what: string, sign: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${what} ended with code ${child.exitCode} before it was ready`);
    if (await sign()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} was not ready within ${PATIENCE_MS / 1000} s`);
}

/** What is said at first to who connects and says this; '' where nobody listens. */
function firstAnswer(port: number, said: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = tcpConnect(port, '127.0.0.1', () => socket.write(said));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.once('data', (answer) => {
      resolve(String(answer));
      socket.destroy();
    });
    socket.once('error', () => {});
    socket.once('close', () => resolve(''));
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

function stopper(child: ChildProcess, folder: string, signal: NodeJS.Signals): () => Promise<void> {
  return async () => {
    await ended(child, signal);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** How programs are started that refuse to run as root: then as the system's unprivileged database user. */
export interface ProgramUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The user for such programs, with the folder given to it. */
export function programUser(folder: string): ProgramUser {
  const asUser = userInfo().uid === 0 ? unprivileged() : {};
  if (asUser.uid !== undefined) execFileSync('chown', ['-R', String(asUser.uid), folder]);
  return asUser;
}

/** Makes the files of an empty PostgreSQL, whose user `test` everybody may be. */
export function initPostgres(data: string, options: ProgramUser & { readonly cwd: string }): void {
  execFileSync(
    findProgram('initdb')!,
    ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    { ...options, stdio: 'pipe' },
  );
}

/** Runs a PostgreSQL on files that are there, until it answers. */
export async function runPostgres(
  data: string,
  port: number,
  options: ProgramUser & { readonly cwd: string },
  settings: readonly string[],
): Promise<{ readonly pid: number; readonly end: (signal: NodeJS.Signals) => Promise<void> }> {
  const all = ['fsync=off', 'shared_buffers=128MB', ...settings].flatMap((setting) => ['-c', setting]);
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', options.cwd, ...all];
  const child = spawn(findProgram('postgres')!, args, { ...options, stdio: 'ignore' });
  const state = join(data, 'postmaster.pid');
  // Its first line is the process, and its last one the state.
  const ready = new RegExp(`^${child.pid}\\n[^]*\\nready\\s*$`);
  await untilReady(child, 'PostgreSQL', () => existsSync(state) && ready.test(readFileSync(state, 'utf8')));
  return { pid: child.pid!, end: (signal) => ended(child, signal) };
}

/** Starts a PostgreSQL of its own in a temporary folder; undefined where the machine has no PostgreSQL. */
export async function startPostgres(): Promise<TestServer | undefined> {
  if (!findProgram('initdb') || !findProgram('postgres')) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-pg-'));
  const options = { ...programUser(folder), cwd: folder };
  const data = join(folder, 'data');
  initPostgres(data, options);
  const { port, pid, end } = await onFreePort(async (port) => {
    const running = await runPostgres(data, port, options, ['synchronous_commit=off', 'max_connections=300']);
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
 * Starts a PgBouncer that exchanges sessions after each transaction, before the PostgreSQL of this URL; undefined where the
 * machine has none. Any database of that server can be asked for.
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
  return { url, pid: child.pid!, stop: stopper(child, folder, 'SIGKILL') };
}

function unprivileged(): { uid?: number; gid?: number } {
  for (const name of ['postgres', 'nobody']) {
    try {
      const uid = Number(execFileSync('id', ['-u', name], { encoding: 'utf8', stdio: 'pipe' }));
      const gid = Number(execFileSync('id', ['-g', name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid, gid };
    } catch {
      // This machine has no such user; the next name may exist.
    }
  }
  throw new Error('running as root, and neither a postgres nor a nobody user exists to run PostgreSQL as');
}

/** Starts a Redis of its own on a free port; undefined where the machine has no Redis. */
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
  await untilReady(child, 'Redis', async () => (await firstAnswer(port, 'INFO server\r\n')).includes(sign));
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: stopper(child, folder, 'SIGTERM') };
}
