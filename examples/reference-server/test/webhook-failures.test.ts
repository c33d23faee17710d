import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadLetter } from '@apistrata/compute-engine/events';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { receiveEvents } from '../../../packages/compute-engine/test/webhook-receiver.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { admin, adminJson, start } from './operator.js';
import { sendRequest } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-webhooks-'));
const kinds = [
  { kind: 'SQLite', database: async () => join(folder, `${randomUUID()}.db`) },
  ...(inject('postgresUrl') ? [{ kind: 'PostgreSQL', database: () => freshDatabase(inject('postgresUrl')) }] : []),
];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(kinds)('admin commands for events that a webhook did not accept, on $kind', ({ database }) => {
  beforeAll(() => void vi.stubEnv('APISTRATA_SECRET_KEY', ''));
  afterAll(() => void vi.unstubAllEnvs());

  it('list and resend them', async () => {
    const got: string[] = [];
    let status = 422;
    const hook = await receiveEvents(({ event_type: type }, { headers }) => {
      if (status === 204) got.push(`${type} ${headers.authorization}`);
      return status;
    });
    const place = ['--db', await database(), '--secret-key-file', join(folder, `${randomUUID()}.key`)];
    const secretFile = join(folder, 'secret');
    writeFileSync(secretFile, 'a secret of more than twenty-four characters');
    const url = hook.url.replace('//', '//ada:hunter2@');
    const options = ['--webhook', url, '--webhook-attempts', '1', '--webhook-secret-file', secretFile];
    const program = await start(...place, ...options, '--metrics');
    const server = { name: 'web', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
    const created = await sendRequest(program.url, 'POST', '/v2.1/servers', { version: '2.90', body: { server } });
    expect(created.status).toBe(202);
    const failures = async (): Promise<DeadLetter[]> => (await adminJson('webhook', 'failures', ...place)).failures;
    await expect.poll(async () => (await failures()).map(({ type }) => type)).toContain('instance.create.end');
    const all = await failures();
    const { output } = await admin('webhook', 'failures', ...place);
    expect(output).toMatch(/^number +webhook +type +server +attempts +last attempt +reason\n/);
    expect(output).toMatch(/ instance\.create\.end +[0-9a-f-]{36} +1 +\d{4}-\S+Z +the webhook \S+ returned 422 for /);
    const metrics = (await sendRequest(program.url, 'GET', '/metrics')).body;
    expect(metrics).toContain(`apistrata_events_rejected_total{webhook="${new URL(hook.url).host}"} ${all.length}`);

    status = 204;
    const first = String(all[0]?.number);
    expect((await admin('webhook', 'retry', first, ...place)).output).toBe('1 event will be sent again.\n');
    await expect.poll(() => got).toHaveLength(1);
    await admin('webhook', 'retry', '--all', ...place);
    await expect.poll(failures).toEqual([]);
    expect(new Set(got)).toContain(`instance.create.end Basic ${Buffer.from('ada:hunter2').toString('base64')}`);
    expect(program.output()).not.toContain('hunter2');
    await program.end('SIGTERM');
    hook.close();
  });

  it('resend them by number, or all of them', async () => {
    const place = ['--db', await database(), '--secret-key-file', join(folder, `${randomUUID()}.key`)];
    await (await start(...place)).end('SIGTERM');
    for (const words of [[], ['x'], ['1', '--all']])
      expect(await admin('webhook', 'retry', ...words, ...place)).toMatchObject({ code: 2 });
    expect((await admin('webhook', 'retry', '7', ...place)).output).toBe('0 events will be sent again.\n');
  });
});
