import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const STABLE = new Set(['ACTIVE', 'SHUTOFF', 'PAUSED', 'ERROR']);
const folder = mkdtempSync(join(tmpdir(), 'apistrata-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'a SQLite file', url: async () => join(folder, 'cloud.db') },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];

describe.each(databases)('a server that is killed during jobs, on $kind', ({ url }) => {
  const start = async (database: string) =>
    startProgram([
      '--db',
      database,
      '--latency-ms',
      '15',
      '--log-level',
      'error',
      '--quota',
      'instances=-1',
      '--quota',
      'cores=-1',
      '--quota',
      'ram=-1',
    ]);

  /** Creates servers until the process has ended, and collects the ids of servers that responses acknowledged. */
  async function createMany(program: Program, count: number, acknowledged: Map<string, string>): Promise<void> {
    const one = async (index: number) => {
      const name = `crash-${randomUUID()}`;
      const server = { name, flavorRef: '1', imageRef: IMAGE, networks: index % 2 === 0 ? 'none' : 'auto' };
      const created = await sendRequest(program.url, 'POST', '/v2.1/servers', { version: '2.37', body: { server } });
      if (created.status !== 202) throw new Error(JSON.stringify(created.body));
      acknowledged.set(created.body.server.id, name);
      await new Promise((resolve) => setTimeout(resolve, 60));
      await sendRequest(program.url, 'POST', `/v2.1/servers/${created.body.server.id}/action`, {
        body: { 'os-stop': null },
      });
    };
    await Promise.allSettled(Array.from({ length: count }, (_, index) => one(index)));
  }

  it('loses no acknowledged write, repeats none, and completes interrupted jobs', {
    timeout: 120_000,
  }, async () => {
    const database = await url();
    const acknowledged = new Map<string, string>();
    for (const enough of [20, 60]) {
      const before = acknowledged.size;
      const program = await start(database);
      const working = createMany(program, 100, acknowledged);
      // The process is killed while some requests have been acknowledged and others are in flight.
      await eventually(() => expect(acknowledged.size - before).toBeGreaterThanOrEqual(enough), { interval: 2 });
      await program.end('SIGKILL');
      await working;
    }
    const program = await start(database);
    try {
      const busy = (s: any) => !STABLE.has(s.status) || s['OS-EXT-STS:task_state'] !== null;
      const servers = await eventually(
        async () => {
          const { body } = await sendRequest(program.url, 'GET', '/v2.1/servers/detail?limit=1000');
          expect(body.servers.filter(busy)).toEqual([]);
          return body.servers as any[];
        },
        { interval: 250 },
      );
      expect(servers.filter((s) => s.status === 'ERROR').map((s) => s.fault)).toEqual([]);
      const names = servers.map((s) => s.name);
      expect(new Set(names).size).toBe(names.length);
      const found = new Map(servers.map((s) => [s.id, s.name]));
      for (const [id, name] of acknowledged) expect(found.get(id)).toBe(name);
    } finally {
      expect(await program.end('SIGTERM')).toBe(0);
    }
  });
});
