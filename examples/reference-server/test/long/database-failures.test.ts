import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { findProgram } from '../../../../testing/servers.js';
import { runProgram, sendRequest, startProgram } from '../program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-trouble-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const postgresUrl = inject('postgresUrl');
const server = { name: 'web', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
const quiet = ['--log-level', 'silent', '--quota', 'instances=-1', '--quota', 'cores=-1', '--quota', 'ram=-1'];

const create = (url: string) => sendRequest(url, 'POST', '/v2.1/servers', { version: '2.37', body: { server } });

it.skipIf(!postgresUrl)(
  'a server whose PostgreSQL connections all break survives, and loses no acknowledged write',
  async () => {
    const name = `cut_${randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Client(postgresUrl);
    await admin.connect();
    await admin.query(`create database ${name}`);
    const program = await startProgram(['--db', postgresUrl.replace(/\/[^/]*$/, `/${name}`), ...quiet]);
    try {
      const acknowledged: string[] = [];
      let cut = false;
      const working = Array.from({ length: 6 }, async () => {
        for (let after = 0; after < 3; after += Number(cut)) {
          const { status, body, headers } = await create(program.url);
          if (status === 202) acknowledged.push(body.server.id);
          else expect([status, headers.get('retry-after')]).toEqual([503, '5']);
        }
      });
      await expect.poll(() => acknowledged.length).toBeGreaterThan(12);
      await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      cut = true;
      await Promise.all(working);
      for (const id of acknowledged)
        expect((await sendRequest(program.url, 'GET', `/v2.1/servers/${id}`)).status).toBe(200);
      expect((await create(program.url)).status).toBe(202);
      expect(await program.end('SIGTERM')).toBe(0);
    } finally {
      await program.end('SIGKILL');
      await admin.end();
    }
  },
);

describe('a SQLite file', () => {
  it('that another server uses is rejected in one line that names the server', async () => {
    const file = join(folder, 'shared.db');
    const program = await startProgram(['--db', file, ...quiet]);
    const second = await runProgram(['--db', file, '--port', '0', ...quiet]);
    expect(second.code).toBe(1);
    expect(second.output.trim().split('\n')).toHaveLength(1);
    expect(second.output).toContain(`is in use by process ${program.pid} on `);
    await program.end('SIGKILL');
    const third = await startProgram(['--db', file, ...quiet]);
    expect((await create(third.url)).status).toBe(202);
    await third.end('SIGKILL');
  });

  it('that is removed while the server runs makes every write fail with 503', async () => {
    const file = join(folder, 'removed.db');
    const program = await startProgram(['--db', file, ...quiet]);
    expect((await create(program.url)).status).toBe(202);
    rmSync(file);
    const rejected = await create(program.url);
    expect(rejected.status).toBe(503);
    expect(rejected.body.serviceUnavailable).toEqual({
      code: 503,
      message: 'The database file was removed or replaced while it was in use.',
    });
    expect(rejected.headers.get('retry-after')).toBe('5');
    await program.end('SIGKILL');
  });
});

it('rejects unknown and invalid limits of the database', async () => {
  const start = (...args: string[]) => runProgram(['--db', ':memory:', '--port', '0', ...args]);
  expect((await start('--database', 'pool=3')).output).toContain(
    '--database: unknown name "pool". Did you mean "poolSize"?',
  );
  expect((await start('--database', 'poolSize=0')).output).toContain('poolSize is 0: it must be an integer from 1');
  expect((await start('--durability', 'never')).output).toContain(
    '--durability must be one of disk, process; it is "never"',
  );
});

const strace = findProgram('strace');
const traced = strace !== undefined && spawnSync(strace, ['-e', 'trace=none', 'true']).status === 0;
if (!traced) console.warn('\n*** SKIPPED: counting syncs needs strace, and permission to trace processes ***\n');

describe.skipIf(!traced)('writes that reach the disk before the response', () => {
  /** Creates servers one by one in a traced process, and returns the number of file syncs in that time. */
  function syncsOf(creates: number, durability: string): number {
    const log = join(folder, `syncs-${durability}`);
    const code = `import { createEngine, defaultPreset } from '@apistrata/compute-engine';
      const engine = await createEngine({ database: process.argv[1], durability: '${durability}', worker: false });
      const caller = { userId: 'u', projectId: 'p', roles: ['member'] };
      const wanted = { name: 'w', flavorId: '1', imageId: defaultPreset.images[0].id, networks: 'none' };
      process.kill(process.pid, 0);
      for (let i = 0; i < ${creates}; i++) await engine.servers.create({ caller, requestId: 'req-' + i, isAdmin: false }, wanted);
      process.kill(process.pid, 0);
      process.exit(0);`;
    const args = ['-f', '-e', 'trace=fsync,fdatasync,kill', '-o', log, process.execPath];
    const script = ['--input-type=module', '-e', code, join(folder, `synced-${durability}.db`)];
    const { status, stderr } = spawnSync(strace!, [...args, ...script], { cwd: join(import.meta.dirname, '../..') });
    expect(String(stderr)).toBe('');
    expect(status).toBe(0);
    // The part of the log between the two signals. The only effect of these signals is a mark in the log.
    const [, between] = readFileSync(log, 'utf8').split(/kill\(\d+, 0\)/);
    return (between!.match(/(fsync|fdatasync)\(/g) ?? []).length;
  }

  it('include every creation with the durability disk, and none with the durability process', () => {
    expect(syncsOf(8, 'disk')).toBeGreaterThanOrEqual(8);
    expect(syncsOf(8, 'process')).toBe(0);
  });
});
