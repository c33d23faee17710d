import { expect, inject, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { startPostgresPair } from '../../../../testing/postgres-pair.js';
import { sendRequest, startProgram } from '../program.js';

const server = { name: 'web', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
const unlimited = ['instances', 'cores', 'ram'].flatMap((kind) => ['--quota', `${kind}=-1`]);

/** The timeout of a test step, which waits for two databases and three processes. */
const TIMEOUT_MS = 100_000;

it.skipIf(!inject('postgresUrl'))(
  'a server whose primary is killed continues with the promoted standby, and loses no acknowledged write',
  { timeout: 300_000 },
  async () => {
    const pair = await startPostgresPair();
    onTestFinished(() => pair.stop());
    // The standby comes first in the URL, because the server must detect which database is the primary.
    const program = await startProgram(['--db', pair.url, '--log-level', 'silent', ...unlimited]);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const acknowledged: string[] = [];
    const responses: { status: number; retryAfter: string | null }[] = [];
    let stopped = false;
    const working = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!stopped) {
          const { status, headers, body } = await sendRequest(program.url, 'POST', '/v2.1/servers', {
            version: '2.37',
            body: { server },
          });
          responses.push({ status, retryAfter: headers.get('retry-after') });
          if (status === 202) acknowledged.push(body.server.id);
          else await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }),
    );
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(20), { timeout: TIMEOUT_MS });
    await pair.killPrimary();
    const before = responses.length;
    await eventually(
      () => expect(responses.slice(before).filter(({ status }) => status === 503).length).toBeGreaterThan(4),
      { timeout: TIMEOUT_MS },
    );
    expect((await sendRequest(program.url, 'GET', '/v2.1/servers')).status).toBe(503);
    expect((await sendRequest(program.url, 'GET', '/livez')).status).toBe(200);
    const lost = acknowledged.length;
    await pair.promote();
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(lost + 10), { timeout: TIMEOUT_MS });
    stopped = true;
    await working;
    const others = responses.filter(({ status }) => status !== 202);
    expect(new Set(others.map((response) => JSON.stringify(response)))).toEqual(
      new Set([JSON.stringify({ status: 503, retryAfter: '5' })]),
    );
    for (const id of acknowledged)
      await eventually(
        async () => {
          const { status, body } = await sendRequest(program.url, 'GET', `/v2.1/servers/${id}`);
          expect([status, body.server?.status]).toEqual([200, 'ACTIVE']);
        },
        { timeout: TIMEOUT_MS, interval: 100 },
      );
    expect(await program.end('SIGTERM')).toBe(0);
  },
);
