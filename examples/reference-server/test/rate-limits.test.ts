import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { type Program, runProgram, sendRequest, startProgram } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-rates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(args: readonly string[]): Promise<Program> {
  const program = await startProgram([...args, '--log-level', 'info']);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  return program;
}

const statuses = async (programs: readonly Program[], token: string, times: number) => {
  const all: number[] = [];
  for (let n = 0; n < times; n++) {
    const { url } = programs[n % programs.length]!;
    all.push((await sendRequest(url, 'GET', '/v2.1/flavors', { token })).status);
  }
  return all;
};

describe('--rate-limit', () => {
  it('limits users and projects but not callers with an exempt role, and is reloaded on SIGHUP', async () => {
    const config = join(folder, 'rates.yaml');
    const write = (limits: string) => writeFileSync(config, `rate-limit: ${limits}\nrate-limit-exempt: [service]\n`);
    write('[user=2/h, project=3/h]');
    const program = await start(['--db', ':memory:', '--config', config]);
    expect(await statuses([program], 'ada:demo', 3)).toEqual([200, 200, 429]);
    expect(await statuses([program], 'bob:demo', 2)).toEqual([200, 429]);
    expect(await statuses([program], 'net:demo:service', 3)).toEqual([200, 200, 200]);
    const { headers, body } = await sendRequest(program.url, 'GET', '/v2.1/flavors', { token: 'ada:demo' });
    expect(headers.get('ratelimit-policy')).toBe('"user/h";q=2;w=3600, "project/h";q=3;w=3600');
    expect(body.overLimit.retryAfter).toBe(headers.get('retry-after'));
    expect((await sendRequest(program.url, 'GET', '/healthcheck', { token: 'ada:demo' })).status).toBe(200);

    const reload = async (limits: string, expected: string) => {
      write(limits);
      process.kill(program.pid, 'SIGHUP');
      await eventually(() => expect(program.output()).toContain(expected));
    };
    await reload('[user=many]', "--rate-limit is 'user=many'");
    expect(await statuses([program], 'ada:demo', 1)).toEqual([429]);
    await reload('[]', 'were reloaded');
    expect(await statuses([program], 'ada:demo', 1)).toEqual([200]);
  });

  it.for([
    ['Redis', () => ({ db: ':memory:', store: inject('redisUrl') })],
    ['the database', () => ({ db: inject('postgresUrl'), store: 'database' })],
  ] as const)('counts the requests of all processes together in %s', async ([kind, place], { skip }) => {
    const { db, store } = place();
    if (db === '' || store === '') return skip(`this machine has no server for rate limits in ${kind}`);
    const database = db === ':memory:' ? db : await freshDatabase(db);
    const args = ['--db', database, '--rate-limit', 'user=4/h', '--rate-limit-store', store];
    const programs = await Promise.all([start(args), start(args)]);
    // A process counts requests separately until its connection to the store is open.
    const reported = () => statuses(programs, `ada-${randomUUID()}`, 6);
    await expect.poll(reported, { interval: 500 }).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it.each([
    [['--rate-limit', 'user=0/m'], "--rate-limit is 'user=0/m': it must be user=N/TIME"],
    [['--rate-limit', 'host=5/m'], "--rate-limit is 'host=5/m'"],
    [['--rate-limit', 'user=1/m', '--rate-limit-store', 'disk'], "--rate-limit-store is 'disk': it must be memory,"],
    [['--rate-limit', 'user=1/m', '--rate-limit-store', 'database'], '--rate-limit-store database needs --db postgres'],
    [['--rate-limit', 'user=1/m', '--rate-limit', 'user=2/m'], '--rate-limit contains user/m twice'],
  ])('rejects %j with one line', async (args, message) => {
    const { code, output } = await runProgram(['--db', ':memory:', '--port', '0', '--log-level', 'silent', ...args]);
    expect([code, output.trim().split('\n')]).toEqual([1, [expect.stringContaining(message)]]);
  });
});
