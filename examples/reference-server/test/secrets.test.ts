import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram, sendRequest, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const newSecret = (kind: string) => `planted-${kind}-${randomUUID()}`;

describe('the secrets of users', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'apistrata-secrets-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are neither in the database nor in the log, and only the owner of the database can read their key', async () => {
    const [token, password, other, file] = ['token', 'password', 'password', 'file'].map(newSecret) as [
      string,
      string,
      string,
      string,
    ];
    const tokens = join(folder, 'tokens.json');
    await writeFile(tokens, JSON.stringify({ [token]: { userId: 'ada', projectId: 'demo', roles: ['member'] } }));
    const database = join(folder, 'db', 'cloud.db');
    const program = await startProgram(
      ['--db', database, '--auth', 'tokens', '--tokens', tokens, '--log-level', 'trace', '--latency-ms', '20'],
      { APISTRATA_SECRET_KEY: '' },
    );
    const contents = Buffer.from(file).toString('base64');
    const server = {
      name: 'web',
      flavorRef: '1',
      imageRef: IMAGE,
      adminPass: password,
      personality: [{ path: '/etc/motd', contents }],
    };
    const created = await sendRequest(program.url, 'POST', '/v2.1/servers', { token, body: { server } });
    expect(created.status).toBe(202);
    const path = `/v2.1/servers/${created.body.server.id}`;
    const status = async () => (await sendRequest(program.url, 'GET', path, { token })).body.server.status;
    await expect.poll(status).toBe('ACTIVE');
    const body = { changePassword: { adminPass: other } };
    expect((await sendRequest(program.url, 'POST', `${path}/action`, { token, body })).status).toBe(202);
    await sendRequest(program.url, 'GET', '/v2.1/servers/detail', { token });
    await program.end('SIGKILL');

    const entries = await readdir(join(folder, 'db'), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(names).toContain('cloud.db-wal');
    expect((await stat(`${database}.key`)).mode & 0o777).toBe(0o600);
    const files = await Promise.all(names.map((name) => readFile(join(folder, 'db', name))));
    const everywhere = [program.output(), ...files.map((content) => content.toString('latin1'))];
    expect(everywhere.some((text) => text.includes(created.body.server.id))).toBe(true);
    for (const secret of [token, password, other, file, contents])
      expect(everywhere.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('are encrypted with a valid key: a file without one is rejected in one line', async () => {
    const keys = join(folder, 'keys');
    await writeFile(keys, 'secret\n');
    const { code, output } = await runProgram(['--db', join(folder, 'x.db'), '--secret-key-file', keys]);
    expect([code, output]).toEqual([
      1,
      `--secret-key-file: ${keys}: a secret key must be 32 bytes in base64, or 64 hexadecimal digits: openssl rand -base64 32\n`,
    ]);
  });
});
