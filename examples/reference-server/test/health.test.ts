import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createEngine } from '@apistrata/compute-engine';
import { startCloud } from '@apistrata/test-cloud';
import pg from 'pg';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { startPostgres } from '../../../testing/servers.js';
import { createHealthEndpoint } from '../src/health.js';
import { readOptions } from '../src/read-options.js';
import { type Program, sendRequest, startProgram } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-health-'));
// The PostgreSQL user must have access to the file system that is mounted below.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Program> {
  const program = await startProgram([...args, '--log-level', 'silent'], environment);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  return program;
}

const reasons = async ({ url }: Program, path = '/healthcheck') => {
  const { status, body } = await sendRequest(url, 'GET', path);
  return `${status} ${String(body).replaceAll('\n', ' | ')}`;
};

/** Waits until `/healthcheck` and `/readyz` match, and checks that `/livez` is not affected. */
async function expectHealth(program: Program, response: RegExp): Promise<void> {
  for (const path of ['/healthcheck', '/readyz']) {
    await eventually(async () => expect(await reasons(program, path)).toMatch(response));
  }
  expect((await sendRequest(program.url, 'GET', '/livez')).status).toBe(200);
}

describe('the health of the reference server on a SQLite file', () => {
  it('is initially healthy, and reports every check', async () => {
    const program = await start(['--db', join(folder, 'good.db')]);
    await expectHealth(program, /^200 OK \| OK \| OK$/);
    const named = await start(['--db', ':memory:', '--healthcheck', 'backends=worker']);
    await expectHealth(named, /^200 OK$/);
  });

  it('fails while another process has locked the file, and recovers', async () => {
    const file = join(folder, 'locked.db');
    const program = await start(['--db', file]);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    await expectHealth(program, /^503 /);
    other.exec('rollback');
    other.close();
    await expectHealth(program, /^200 OK \| OK \| OK$/);
  });
});

it('fails when the file has become read-only, with that message, while its worker continues', async () => {
  const engine = await createEngine({ database: join(folder, 'read-only.db'), worker: false });
  onTestFinished(() => engine.close().catch(() => undefined));
  const log = { warn: () => undefined, error: () => undefined };
  const health = createHealthEndpoint(readOptions([], {}), {
    engine: () => engine,
    database: join(folder, 'read-only.db'),
    log,
  });
  onTestFinished(() => health.close());
  expect(await health.status('ready')).toMatchObject({ available: true });
  await engine.quotaDatabase.transaction(function* () {
    yield { sql: 'PRAGMA query_only = 1', parameters: [], returns: false };
  });
  const read = async () => (await health.status('ready')).results.map(({ name, available }) => `${name} ${available}`);
  await eventually(async () => expect(await read()).toEqual(['database false', 'worker true', 'disk true']));
  expect((await health.status('ready')).results[0]!.reason).toMatch(/^The database /);
});

it('is degraded, with the reason in its details, while the host of this process accepts no servers', async () => {
  const engine = await createEngine({ worker: false });
  onTestFinished(() => engine.close());
  let problem: string | null = 'networks cannot be built';
  const machines = async () => ({ healthy: problem === null, reason: problem ?? 'Servers can start on this host.' });
  const log = { warn: () => undefined, error: () => undefined };
  const health = createHealthEndpoint(readOptions(['--driver', 'qemu'], {}), {
    engine: () => ({ ...engine, health: { ...engine.health, machines } }),
    database: ':memory:',
    log,
  });
  onTestFinished(() => health.close());
  const read = async () => (await health.status('ready')).results.find(({ name }) => name === 'machines');
  expect(await health.status('ready')).toMatchObject({ state: 'degraded', available: true });
  expect(await read()).toMatchObject({ state: 'degraded', details: problem });
  problem = null;
  await eventually(async () => expect(await read()).toMatchObject({ state: 'available' }));
});

/** Mounts a separate small file system, so that it can be filled; undefined if this machine does not allow that. */
function mountSmallDisk(): string | undefined {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'none', disk]).status !== 0) return undefined;
  return disk;
}

const disk = mountSmallDisk();
if (!disk) console.warn('*** SKIPPED: a full disk needs permission to mount a file system ***');
afterAll(() => void (disk && spawnSync('umount', ['-l', disk])));

/** Writes a file until the disk is full. Returns a function that deletes the file. */
function fill(folder: string): () => void {
  const filler = join(folder, 'filler');
  const file = openSync(filler, 'w');
  try {
    for (const block = Buffer.alloc(4096, 'x'); ; ) writeSync(file, block);
  } catch {
    closeSync(file);
  }
  return () => rmSync(filler);
}

it.skipIf(!disk)('fails while the disk is full, and recovers', async () => {
  const program = await start(['--db', join(disk!, 'cloud.db')]);
  await expectHealth(program, /^200 OK \| OK \| OK$/);
  const removeFiller = fill(disk!);
  await expectHealth(program, /^503 OK \| OK \| DISK/);
  removeFiller();
  await expectHealth(program, /^200 OK \| OK \| OK$/);
});

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('the health of the reference server on PostgreSQL', () => {
  it('fails while the database is read-only, and recovers', async () => {
    const name = `health_${randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Client(postgresUrl);
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query(`create database ${name}`);
    const program = await start(['--db', postgresUrl.replace(/\/[^/]*$/, `/${name}`)]);
    await expectHealth(program, /^200 OK \| OK$/);
    const change = async (value: string) => {
      await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    };
    await change('on');
    await expectHealth(program, /^503 The database/);
    await change('off');
    await expectHealth(program, /^200 OK \| OK$/);
  });

  it.skipIf(!disk)('fails while the database disk is full, and recovers', async () => {
    const own = await startPostgres(disk);
    onTestFinished(() => own?.stop());
    const program = await start(['--db', String(own?.url)]);
    await expectHealth(program, /^200 OK \| OK$/);
    const removeFiller = fill(String(disk));
    await expectHealth(program, /^503 The database disk is full\. /);
    removeFiller();
    await expectHealth(program, /^200 OK \| OK$/);
  });

  it('fails when the database is stopped', async () => {
    const own = await startPostgres();
    const program = await start(['--db', own!.url]);
    await expectHealth(program, /^200 OK \| OK$/);
    await own!.stop();
    await expectHealth(program, /^503 The database/);
  });
});

describe('the health of the reference server in front of other services', () => {
  it('fails when one of them is unavailable, and reveals no address', async () => {
    const cloud = await startCloud();
    const environment = { OS_USERNAME: 'admin', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'demo' };
    const identity = ['--auth', 'identity', '--identity-url', cloud.authUrl.replace(/\/v3\/?$/, '')];
    const services = ['--image-url', `${cloud.url}/image`, '--volume-url', `${cloud.url}/volume/v3`];
    const program = await start([...identity, ...services, '--db', ':memory:'], environment);
    await expectHealth(program, /^200 OK \| OK \| OK \| OK \| OK$/);
    await cloud.stop();
    await expectHealth(program, /^503 OK \| OK \| UNREACHABLE \| UNREACHABLE \| UNREACHABLE$/);
  });
});
