import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, runProgram, sendRequest, startProgram } from '../program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const SERVERS = 8;
const folder = mkdtempSync(join(tmpdir(), 'apistrata-events-'));
const secretFile = join(folder, 'secret');
const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'SQLite', url: async () => join(folder, 'compute.db') },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];

interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly server: string;
}

/** Reads events from a stream until it has received a number of events of one type, or a timeout occurs. */
async function readStream(
  url: string,
  headers: Record<string, string>,
  type: string,
  max: number,
): Promise<ReceivedEvent[]> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const events: ReceivedEvent[] = [];
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
      if (!fields.data) continue;
      const server = JSON.parse(fields.data).payload['nova_object.data'].uuid;
      events.push({ id: fields.id!, type: fields.event!, server });
    }
    if (events.filter((event) => event.type === type).length >= max) return events;
  }
  return events;
}

describe.each(databases)('events of the reference server on $kind', ({ url }) => {
  let hook: Server;
  let taking = false;
  const got: { readonly id: string; readonly type: string; readonly server: string }[] = [];
  let args: string[];
  let program: Program;

  beforeAll(async () => {
    writeFileSync(secretFile, 'a secret of more than twenty-four characters\n');
    hook = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        res.writeHead(taking ? 200 : 503).end();
        if (!taking) return;
        const { event_type: type, message_id: id, payload } = JSON.parse(body);
        got.push({ id, type, server: payload['nova_object.data'].uuid });
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
    args = ['--db', await url(), '--webhook', address, '--webhook-secret-file', secretFile, '--log-level', 'silent'];
    program = await startProgram([...args, '--latency-ms', '20']);
  });

  afterAll(async () => {
    await program.end('SIGTERM');
    hook.closeAllConnections();
    hook.close();
  });

  it('are never lost by a kill: every acknowledged server has start and end events', async () => {
    const server = { flavorRef: '1', imageRef: IMAGE, networks: 'none' };
    const created = await Promise.all(
      Array.from({ length: SERVERS }, (_, index) =>
        sendRequest(program.url, 'POST', '/v2.1/servers', {
          version: '2.90',
          body: { server: { ...server, name: `web-${index}` } },
        }),
      ),
    );
    const ids: string[] = created.map(({ body }) => body.server.id);
    // The process is killed during the jobs, and before any event was accepted.
    await program.end('SIGKILL');
    taking = true;
    program = await startProgram(args);
    await eventually(
      () => {
        for (const id of ids) {
          const types = got.filter((event) => event.server === id).map(({ type }) => type);
          expect([...new Set(types)]).toEqual(expect.arrayContaining(['instance.create.start', 'instance.create.end']));
        }
      },
      { interval: 100 },
    );
    for (const id of ids) {
      const types = got.filter((event) => event.server === id).map(({ type }) => type);
      expect(types.indexOf('instance.create.start')).toBeLessThan(types.indexOf('instance.create.end'));
    }
  });

  it('are streamed to administrators, and a reader continues after the last event that it received', async () => {
    const admin = { 'X-Auth-Token': 'admin:demo' };
    const stream = `${program.url}/events?type=instance.create.*`;
    const ends = await readStream(`${stream}&after=0`, admin, 'instance.create.end', SERVERS);
    expect(new Set(ends.map(({ type }) => type))).toEqual(new Set(['instance.create.start', 'instance.create.end']));
    const middle = ends[3]!;
    const rest = await readStream(stream, { ...admin, 'Last-Event-ID': middle.id }, 'instance.create.end', SERVERS - 3);
    expect(rest[0]).toEqual(ends[4]);
    expect((await fetch(stream, { headers: { 'X-Auth-Token': 'ada:demo' } })).status).toBe(403);
    expect((await fetch(stream)).status).toBe(401);
    expect((await fetch(`${stream}&after=x`, { headers: admin })).status).toBe(400);
    expect((await fetch(stream, { method: 'POST', headers: admin })).status).toBe(405);
  });

  it('are filtered by any pattern of types without blocking the process, and too long or too many patterns are rejected', async () => {
    const admin = { 'X-Auth-Token': 'admin:demo' };
    const stream = (query: string) => fetch(`${program.url}/events?after=0&${query}`, { headers: admin });
    const many = await stream(`type=${'*'.repeat(40)}x&type=instance.create.end`);
    const reader = many.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('event: instance.create.end'); ) text += (await reader.read()).value;
    await reader.cancel();
    for (const query of [`type=${'x'.repeat(256)}`, Array.from({ length: 33 }, () => 'type=x').join('&')]) {
      const rejected = await stream(query);
      expect([rejected.status, await rejected.json()]).toEqual([
        400,
        { badRequest: { code: 400, message: expect.stringMatching(/at most/i) } },
      ]);
    }
  });
});

describe('the options of events', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('name missing options', async () => {
    const hook = ['--db', ':memory:', '--webhook', 'https://example.org/hook'];
    expect(await runProgram(hook)).toMatchObject({
      code: 1,
      output: expect.stringContaining('--webhook needs --webhook-secret-file FILE'),
    });
    writeFileSync(secretFile, 'short');
    expect(await runProgram([...hook, '--webhook-secret-file', secretFile])).toMatchObject({
      code: 1,
      output: expect.stringContaining('at least 24 characters'),
    });
  });

  it('end open streams cleanly when the server stops', async () => {
    const program = await startProgram(['--db', ':memory:', '--events', '--log-level', 'silent']);
    const result = await fetch(`${program.url}/events`, { headers: { 'X-Auth-Token': 'admin:demo' } });
    const received = result.text();
    expect(await program.end('SIGTERM')).toBe(0);
    expect(await received).toMatch(/^:\n/);
  });

  it('leave /events to the API if events are not stored', async () => {
    const program = await startProgram(['--db', ':memory:', '--log-level', 'silent']);
    const response = await fetch(`${program.url}/events`, { headers: { 'X-Auth-Token': 'admin:demo' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([300, 'application/json']);
    expect(await program.end('SIGTERM')).toBe(0);
  });
});
