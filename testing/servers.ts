import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, connect as tcpConnect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';

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

/** The full path of a program, or undefined where the machine has none. */
export function findProgram(name: string): string | undefined {
  const postgres = '/usr/lib/postgresql';
  const versions = existsSync(postgres) ? readdirSync(postgres).map((v) => join(postgres, v, 'bin')) : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

async function untilListening(port: number, child: ChildProcess, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${what} ended with code ${child.exitCode} before it listened`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = tcpConnect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not listen on port ${port} within 20 s`);
}

function stopper(child: ChildProcess, folder: string, signal: NodeJS.Signals): () => Promise<void> {
  return async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Starts a PostgreSQL of its own in a temporary folder; undefined where the machine has no PostgreSQL. */
export async function startPostgres(): Promise<TestServer | undefined> {
  const initdb = findProgram('initdb');
  const postgres = findProgram('postgres');
  if (!initdb || !postgres) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-pg-'));
  // PostgreSQL refuses to run as root: then it runs as the system's unprivileged database user.
  const asUser = userInfo().uid === 0 ? unprivileged() : {};
  if (asUser.uid !== undefined) execFileSync('chown', ['-R', String(asUser.uid), folder]);
  const data = join(folder, 'data');
  execFileSync(initdb, ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'], {
    ...asUser,
    cwd: folder,
    stdio: 'pipe',
  });
  const port = await freePort();
  const settings = ['fsync=off', 'synchronous_commit=off', 'max_connections=300', 'shared_buffers=128MB'];
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, ...settings.flatMap((s) => ['-c', s])];
  const child = spawn(postgres, args, { ...asUser, cwd: folder, stdio: 'ignore' });
  await untilListening(port, child, 'PostgreSQL');
  const url = `postgres://test@127.0.0.1:${port}/postgres`;
  await untilAnswering(port);
  return { url, pid: child.pid!, stop: stopper(child, folder, 'SIGINT') };
}

/** A PostgreSQL that listens may still be starting up. */
async function untilAnswering(port: number): Promise<void> {
  const program = findProgram('pg_isready');
  const args = ['-q', '-h', '127.0.0.1', '-p', String(port)];
  for (let attempt = 0; program && attempt < 200; attempt++) {
    if (spawnSync(program, args).status === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
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
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn(program, args, { stdio: 'ignore' });
  await untilListening(port, child, 'Redis');
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: stopper(child, folder, 'SIGTERM') };
}
