import { expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { startPostgresPair } from '../../../../testing/postgres-pair.js';
import { runProgram, sendRequest, startProgram } from '../program.js';

const server = { name: 'web', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
const POLLING = { timeout: 100_000, interval: 100 };

it.skipIf(!inject('postgresUrl'))(
  'two servers read from the replica of --db-read, and show each project its writes through the other one',
  { timeout: 300_000 },
  async () => {
    const pair = await startPostgresPair(false);
    onTestFinished(() => pair.stop());
    const options = ['--db', pair.primaryUrl, '--db-read', pair.standbyUrl, '--database', 'maxStalenessMs=600000'];
    const start = async () => {
      const more = ['--metrics', '--healthcheck', 'detailed=true', '--log-level', 'silent'];
      const program = await startProgram([...options, ...more]);
      onTestFinished(async () => void (await program.end('SIGKILL')));
      return program;
    };
    const [one, other] = [await start(), await start()];
    const names = async ({ url }: { url: string }, token: string) => {
      const { status, body } = await sendRequest(url, 'GET', '/v2.1/servers/detail', { token });
      expect(status).toBe(200);
      return body.servers.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`);
    };
    const metrics = async ({ url }: { url: string }) => (await fetch(`${url}/metrics`)).text();
    const replica = new URL(pair.standbyUrl).host;
    const read = async (program: { url: string }) =>
      Number(
        new RegExp(`^apistrata_reads_total{database="${replica}/postgres"} (\\d+)`, 'm').exec(
          await metrics(program),
        )?.[1] ?? 0,
      );
    const create = ({ url }: { url: string }, token: string, name: string) =>
      sendRequest(url, 'POST', '/v2.1/servers', { version: '2.37', token, body: { server: { ...server, name } } });

    expect((await create(one, 'ada:p1', 'first')).status).toBe(202);
    await eventually(async () => expect(await names(other, 'ada:p1')).toEqual(['first ACTIVE']), POLLING);
    // They read from the primary until each of them receives the other's announcements of writes.
    for (const program of [one, other])
      await eventually(async () => {
        await names(program, 'ada:p1');
        expect(await read(program)).toBeGreaterThan(0);
      }, POLLING);
    pair.pauseReplay();
    const { body } = await create(one, 'ada:p1', 'second');
    expect((await sendRequest(other.url, 'GET', `/v2.1/servers/${body.server.id}`, { token: 'ada:p1' })).status).toBe(
      200,
    );
    await eventually(
      async () => expect(await names(other, 'ada:p1')).toEqual(['second ACTIVE', 'first ACTIVE']),
      POLLING,
    );
    const before = await read(other);
    expect(await names(other, 'bob:p2')).toEqual([]);
    expect(await read(other)).toBe(before + 1);
    await pair.killStandby();
    for (let round = 0; round < 5; round++) expect(await names(one, 'bob:p2')).toEqual([]);
    await eventually(async () => {
      const health = await fetch(`${one.url}/healthcheck`, { headers: { Accept: 'application/json' } });
      expect(health.status).toBe(200);
      expect(await health.text()).toContain(`${replica}/postgres: `);
      expect(await metrics(one)).toContain(`apistrata_replica_usable{replica="${replica}/postgres"} 0`);
    });
    expect(await one.end('SIGTERM')).toBe(0);
  },
);

it('a server of a SQLite file rejects replicas', async () => {
  const { code, output } = await runProgram(['--db', ':memory:', '--db-read', 'postgres://a/b']);
  expect(code).toBe(1);
  expect(output).toContain('--db-read must list replicas (postgres://...) of the PostgreSQL database in --db');
});
