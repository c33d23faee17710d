import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { installedFolderOf } from '../../../scripts/published-form.mjs';
import { eventually } from '../../../testing/eventually.js';
import { sendRequest, startProgram, type WrapCommand } from './program.js';

const ROOT = join(import.meta.dirname, '../../..');
const INSTALL = join(ROOT, 'scripts/install-program.mjs');

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** The body of OTLP `http/json` requests. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: unknown }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'apistrata-traces-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(ROOT, 'docs/operating/traces.md'), 'utf8');

/** Returns the capture groups of a pattern that matches the page. */
function matchOnPage(pattern: RegExp): readonly string[] {
  const [, ...found] = pattern.exec(page) ?? [];
  if (found.length === 0) throw new Error(`the page on traces does not contain ${pattern}`);
  return found;
}

/** Follows the steps on the page: installs the packages and writes the module into a folder. */
async function installAsShown(): Promise<void> {
  const [packages = ''] = matchOnPage(/^npm install (.*)$/m);
  for (const name of packages.split(' ')) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    if (name !== '@apistrata/server') symlinkSync(installedFolderOf(ROOT, name), target, 'junction');
    else execFileSync(process.execPath, [INSTALL, 'server', target], { stdio: 'pipe' });
  }
  const [module = ''] = matchOnPage(/```js\n\/\/ tracing\.mjs\n([\s\S]*?)```/);
  writeFileSync(join(folder, 'tracing.mjs'), module);
}

/**
 * Runs the command on the page instead of the program of the workspace: in that folder, with its variables and options.
 */
const documentedCommand: WrapCommand = (program, [, ...args]) => {
  const [variables, options] = matchOnPage(
    /^OTEL_EXPORTER_OTLP_ENDPOINT=\S+ (NODE_OPTIONS='[^']*') npx apistrata (.*)$/m,
  );
  const main = join(folder, 'node_modules/@apistrata/server/dist/main.js');
  return ['sh', ['-c', `cd '${folder}' && ${variables} exec "$0" '${main}' ${options} "$@"`, program, ...args]];
};

beforeAll(installAsShown, 60_000);

it('sends traces to a collector as the page describes, and sends the remaining traces when it exits', async () => {
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
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    // The exporter sends no batch before the program ends, even if the test is slow.
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  };
  const program = await startProgram(['--db', ':memory:', '--log-level', 'silent'], environment, documentedCommand);
  const spans = () =>
    got.flatMap(({ resourceSpans }) => resourceSpans.flatMap((r) => r.scopeSpans.flatMap((scope) => scope.spans)));
  const body = { server: { name: 'web', flavorRef: '1', imageRef: IMAGE } };
  const headers = { 'X-Auth-Token': 'ada:demo', 'Content-Type': 'application/json' };
  const created = await fetch(`${program.url}/v2.1/servers`, {
    method: 'POST',
    headers: { ...headers, traceparent: `00-${TRACE}-${PARENT}-01` },
    body: JSON.stringify(body),
  });
  const { id } = ((await created.json()) as { server: { id: string } }).server;
  await eventually(async () => {
    const { body: shown } = await sendRequest(program.url, 'GET', `/v2.1/servers/${id}`);
    expect(shown.server.status).toBe('ACTIVE');
  });
  expect(await program.end('SIGTERM')).toBe(0);
  collector.close();

  const own = spans().filter(({ traceId }) => traceId === TRACE);
  const named = (name: string) => own.find((span) => span.name === name);
  expect(named('POST /servers')).toMatchObject({ parentSpanId: PARENT });
  expect(named('job create')).toMatchObject({ parentSpanId: named('POST /servers')!.spanId });
  expect(named('step spawn')).toMatchObject({ parentSpanId: named('job create')!.spanId });
  // The traces include the last request before the end, because the export does not wait for a timer.
  expect(spans().map(({ name }) => name)).toContain('GET /servers/{id}');
  const resource = got[0]!.resourceSpans[0]!.resource.attributes;
  expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'compute' } });
});
