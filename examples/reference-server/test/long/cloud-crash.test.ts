import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-cloud-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'a SQLite file', url: async () => join(folder, 'cloud.db') },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];

/** The resources that are created under load: path and body of the request, and the key of the list in responses. */
const KINDS = [
  {
    path: '/identity/v3/users',
    key: 'users',
    body: (name: string) => ({ user: { name, password: `of ${name}` } }),
  },
  { path: '/identity/v3/projects', key: 'projects', body: (name: string) => ({ project: { name } }) },
  { path: '/identity/v3/roles', key: 'roles', body: (name: string) => ({ role: { name } }) },
  {
    path: '/network/v2.0/networks',
    key: 'networks',
    body: (name: string) => ({ network: { name, dns_domain: `${name}.test.` } }),
  },
] as const;

/** The minimum number of acknowledged requests before the kill, so that the test cannot pass without load. */
const MIN_ACKNOWLEDGED = 60;

describe.each(databases)('a whole cloud that is killed under load, on $kind', ({ kind, url }) => {
  const start = (database: string) =>
    startProgram([
      '--cloud',
      '--db',
      database,
      '--log-level',
      'error',
      '--clouds-yaml',
      join(folder, `${kind.replaceAll(' ', '-')}.yaml`),
    ]);

  async function tokenOf(program: Program, user: string, password: string): Promise<string> {
    const domain = { id: 'default' };
    const scope = user === 'admin' ? { project: { name: 'admin', domain } } : 'unscoped';
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } };
    const { status, headers } = await sendRequest(program.url, 'POST', '/identity/v3/auth/tokens', {
      body: { auth: { identity, scope } },
    });
    expect(status, user).toBe(201);
    return headers.get('x-subject-token') ?? '';
  }

  it('has everything that it acknowledged', async () => {
    const database = await url();
    let program = await start(database);
    // A failed test must not leave the program running.
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const [, password = ''] = await program.printed(/^export OS_PASSWORD=(\S+)$/m);
    const token = await tokenOf(program, 'admin', password);
    const acknowledged = new Map<string, string[]>(KINDS.map(({ key }) => [key, []]));
    let count = 0;
    const killed = new AbortController();

    async function createUntilKilled(worker: number): Promise<void> {
      for (let number = 0; !killed.signal.aborted; number++) {
        const { path, key, body } = KINDS[number % KINDS.length] ?? KINDS[0];
        const name = `n${worker}-${number}`;
        const { status } = await sendRequest(program.url, 'POST', path, { token, body: body(name) });
        expect(status, `${path} ${name}`).toBe(201);
        acknowledged.get(key)?.push(name);
        count++;
      }
    }
    // The requests that are in flight when the process ends fail.
    const workers = Promise.allSettled([1, 2, 3, 4].map(createUntilKilled));
    await expect.poll(() => count).toBeGreaterThan(MIN_ACKNOWLEDGED);
    expect(await program.end('SIGKILL')).toBeNull();
    killed.abort();
    const failures = (await workers).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    for (const failure of failures) expect(String(failure)).toMatch(/fetch failed|terminated/);

    program = await start(database);
    for (const { path, key } of KINDS) {
      const { status, body: list } = await sendRequest(program.url, 'GET', path, { token });
      expect(status).toBe(200);
      const names = new Set(list[key].map(({ name }: { name: string }) => name));
      expect(acknowledged.get(key)?.filter((name) => !names.has(name))).toEqual([]);
      if (key === 'networks')
        for (const { name, dns_domain } of list[key])
          if (acknowledged.get(key)?.includes(name)) expect(dns_domain).toBe(`${name}.test.`);
    }
    const [user = ''] = acknowledged.get('users') ?? [];
    await tokenOf(program, user, `of ${user}`);
    expect(await program.end('SIGTERM')).toBe(0);
  });
});
