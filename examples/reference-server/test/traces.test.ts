import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { ask, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** What a collector is sent by `http/json` of OTLP. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: unknown }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

// Beside the program, so that the SDK is found as a program's own is.
const folder = mkdtempSync(join(import.meta.dirname, '..', '.traces-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The module that the page on traces shows, word for word. */
function tracingModule(page: string): string {
  const [, text] = /```js\n\/\/ tracing\.mjs[^\n]*\n([\s\S]*?)```/.exec(page) ?? [];
  if (!text) throw new Error('the page on traces shows no tracing.mjs');
  const file = join(folder, 'tracing.mjs');
  writeFileSync(file, text);
  return file;
}

it('sends its traces to a collector, the last ones when it ends', async () => {
  const got: Export[] = [];
  const collector = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      got.push(JSON.parse(body));
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating/traces.md'), 'utf8');
  const program = await startProgram(['--db', ':memory:', '--traces', '--log-level', 'silent'], {
    NODE_OPTIONS: `--import ${tracingModule(page)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    // No batch is sent before the end, however long this takes.
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  });
  const spans = () =>
    got.flatMap(({ resourceSpans }) => resourceSpans.flatMap((r) => r.scopeSpans.flatMap((scope) => scope.spans)));
  const body = { server: { name: 'web', flavorRef: '1', imageRef: IMAGE } };
  const headers = { 'X-Auth-Token': 'ada:demo', 'Content-Type': 'application/json' };
  const made = await fetch(`${program.url}/v2.1/servers`, {
    method: 'POST',
    headers: { ...headers, traceparent: `00-${TRACE}-${PARENT}-01` },
    body: JSON.stringify(body),
  });
  const { id } = ((await made.json()) as { server: { id: string } }).server;
  await eventually(async () => {
    const { body: told } = await ask(program.url, 'GET', `/v2.1/servers/${id}`);
    expect(told.server.status).toBe('ACTIVE');
  });
  expect(await program.end('SIGTERM')).toBe(0);
  collector.close();

  const own = spans().filter(({ traceId }) => traceId === TRACE);
  const named = (name: string) => own.find((span) => span.name === name);
  expect(named('POST /servers')).toMatchObject({ parentSpanId: PARENT });
  expect(named('job create')).toMatchObject({ parentSpanId: named('POST /servers')!.spanId });
  expect(named('step spawn')).toMatchObject({ parentSpanId: named('job create')!.spanId });
  // The last request before the end is there, too: nothing waits for a timer that never comes.
  expect(spans().map(({ name }) => name)).toContain('GET /servers/{id}');
  const resource = got[0]!.resourceSpans[0]!.resource.attributes;
  expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'compute' } });
});
