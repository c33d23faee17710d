import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, runProgram, startProgram } from './program.js';

describe('purge', () => {
  let folder: string;
  let database: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'apistrata-purge-'));
    database = join(folder, 'cloud.db');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const purge = (...args: string[]) => runProgram(['purge', '--db', database, ...args]);

  it('removes servers that were deleted long enough ago, and adds nothing', async () => {
    const program = await startProgram(['--db', database]);
    const imageRef = '70a599e0-31e7-49b7-b260-868f441e862b';
    const body = { server: { name: 'web', flavorRef: '1', imageRef } };
    const { id } = (await ask(program.url, 'POST', '/v2.1/servers', { body })).body.server;
    await ask(program.url, 'DELETE', `/v2.1/servers/${id}`);
    const status = async () => (await ask(program.url, 'GET', `/v2.1/servers/${id}`)).status;
    await expect.poll(status, { timeout: 20_000 }).toBe(404);
    const held = await purge('--older-than', '0d');
    expect(held.code).toBe(1);
    expect(held.output).toContain('A server that runs purges by itself: start it with --setting retentionDays=N.');
    await program.end('SIGTERM');
    expect(JSON.parse((await purge('--older-than', '1d')).output)).toMatchObject({ servers: 0 });
    expect(JSON.parse((await purge('--older-than', '0d')).output)).toMatchObject({ servers: 1 });
    expect(JSON.parse((await purge('--older-than', '0d')).output)).toMatchObject({ servers: 0 });
  });

  it.each([[], ['--older-than', 'soon'], ['--older-than', '-3d']])(
    'says what it needs when told %j',
    async (...args) => {
      const { code, output } = await purge(...args);
      expect(code).toBe(1);
      expect(output).toMatch(/purge needs --older-than AGE, such as 30d, 12h or 90m|--help lists the options/);
    },
  );
});
