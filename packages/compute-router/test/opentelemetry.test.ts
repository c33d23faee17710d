import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@apistrata/compute-engine';
import { httpImages, ServiceSession } from '@apistrata/compute-engine/catalogs';
import { coreOf } from '@apistrata/compute-engine/testing';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { computeApi, identityService, noauth } from '../src/index.js';
import { openTelemetry } from '../src/opentelemetry/index.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const folder = mkdtempSync(join(tmpdir(), 'apistrata-traces-'));

beforeAll(() => provider.register());
afterAll(async () => {
  await provider.shutdown();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => exporter.reset());

/** Returns a database that two engines can open one after the other. */
const database = async (name: string) =>
  inject('database') === 'postgres' ? freshDatabase(inject('postgresUrl')) : join(folder, `${name}.db`);

const listening: Server[] = [];
afterAll(() => {
  for (const server of listening) server.closeAllConnections();
  for (const server of listening) server.close();
});

async function listen(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener);
  listening.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const headers = { 'Content-Type': 'application/json', 'X-Auth-Token': 'ada:demo' };
const traced = { ...headers, traceparent: `00-${TRACE}-${PARENT}-01` };
const server = { server: { name: 'web', flavorRef: '1', imageRef: IMAGE } };
const post = (url: string, sent: Record<string, string>) =>
  fetch(`${url}/v2.1/servers`, { method: 'POST', headers: sent, body: JSON.stringify(server) });

const spans = () => exporter.getFinishedSpans();
const named = (name: string): ReadableSpan => {
  const found = spans().find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} among ${spans().map((span) => span.name)}`);
  return found;
};
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

async function serve(engine: Engine): Promise<string> {
  const { api } = openTelemetry();
  return listen(computeApi({ engine, identity: noauth(), observer: api }));
}

describe('traces', () => {
  it('span a request, its stages and statements, and background jobs in another process', async () => {
    const url = await database('handed-over');
    const { engine: observer } = openTelemetry();
    const front = await createEngine({ database: url, worker: false, observer });
    expect((await post(await serve(front), traced)).status).toBe(202);
    await front.close();
    const request = named('POST /servers');
    expect([request.spanContext().traceId, parentOf(request)]).toEqual([TRACE, PARENT]);
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/servers',
      'http.response.status_code': 202,
      'apistrata.version': '2.1',
    });
    for (const name of ['identity', 'validation', 'run', 'render', 'insert servers', 'insert jobs'])
      expect(parentOf(named(name))).toBe(request.spanContext().spanId);

    const back = await createEngine({ database: url, observer });
    await eventually(() => named('job create'));
    await back.close();
    const job = named('job create');
    expect([job.spanContext().traceId, parentOf(job)]).toEqual([TRACE, request.spanContext().spanId]);
    expect(job.attributes).toMatchObject({ 'apistrata.job.outcome': 'done', 'apistrata.job.attempt': 1 });
    const step = named('step spawn');
    expect([step.spanContext().traceId, parentOf(step)]).toEqual([TRACE, job.spanContext().spanId]);
    const within = spans().filter((span) => parentOf(span) === job.spanContext().spanId);
    expect(within.map(({ name }) => name)).toEqual(expect.arrayContaining(['update servers', 'delete jobs']));
  });

  it('separate requests that share a commit', async () => {
    const { engine: observer } = openTelemetry();
    const engine = await createEngine({ database: await database('apart'), observer });
    const url = await serve(engine);
    const ids = Array.from({ length: 8 }, (_, index) => `${index + 1}`.padStart(32, 'a'));
    await Promise.all(ids.map((id) => post(url, { ...headers, traceparent: `00-${id}-${PARENT}-01` })));
    await eventually(() => expect(spans().filter(({ name }) => name === 'job create')).toHaveLength(8));
    await engine.close();
    const tracesOf = (name: string) =>
      spans()
        .flatMap((span) => (span.name === name ? [span.spanContext().traceId] : []))
        .sort();
    for (const name of ['POST /servers', 'insert servers', 'insert jobs', 'job create', 'step spawn'])
      expect([name, tracesOf(name)]).toEqual([name, ids]);
  });

  it('start with the request if it has no trace context, and report failures', async () => {
    const { engine: observer, api } = openTelemetry();
    const engine = await createEngine({ observer });
    const url = await listen(
      computeApi({ engine, identity: () => Promise.reject(new Error('broken')), observer: api }),
    );
    expect((await fetch(`${url}/v2.1/servers`, { headers })).status).toBe(500);
    await engine.close();
    const request = named('GET');
    expect(parentOf(request)).toBeUndefined();
    expect(request.status.code).toBe(SpanStatusCode.ERROR);
    expect(request.events.map(({ name }) => name)).toEqual(['exception']);
  });

  it('are propagated to the identity service and to catalogs of other services', async () => {
    const requested: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
    const services = await listen((req, res) => {
      requested.push({ path: `${req.method} ${req.url}`, headers: req.headers });
      const project = { id: 'demo', name: 'demo', domain: { id: 'default', name: 'Default' } };
      const user = { id: 'ada', name: 'ada', domain: { id: 'default', name: 'Default' } };
      const token = { project, user, roles: [{ id: 'm', name: 'member' }], expires_at: '2999-01-01T00:00:00Z' };
      req.resume();
      if (!req.url!.includes('/auth/tokens'))
        return void res.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
      const status = req.method === 'POST' ? 201 : 200;
      res.writeHead(status, { 'Content-Type': 'application/json', 'X-Subject-Token': 'own' });
      res.end(JSON.stringify({ token }));
    });
    const traces = openTelemetry();
    const login = { username: 'compute', password: 'secret', projectName: 'service' };
    const session = new ServiceSession({ authUrl: services, ...login }, { headers: traces.headers });
    const engine = await createEngine({
      observer: traces.engine,
      worker: false,
      catalogs: { images: httpImages({ url: `${services}/image`, session, headers: traces.headers }) },
    });
    const identity = identityService({ url: services, ...login, headers: traces.headers });
    const url = await listen(computeApi({ engine, identity, observer: traces.api }));
    expect((await post(url, traced)).status).toBe(400);
    await engine.close();
    expect(requested.map(({ path }) => path)).toEqual(
      expect.arrayContaining([expect.stringContaining('/image/v2/images')]),
    );
    const request = named('POST /servers').spanContext().spanId;
    for (const { path, headers: got } of requested)
      expect([path, got.traceparent]).toEqual([path, `00-${TRACE}-${request}-01`]);
  });

  it('are stored with jobs only if tracing is enabled', async () => {
    const { engine: observer } = openTelemetry();
    for (const [observers, expected] of [
      [[], undefined],
      [[observer], { traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`)) }],
    ] as const) {
      const url = await database(`kept-${observers.length}`);
      const engine = await createEngine({ database: url, worker: false, observer: observers });
      expect((await post(await serve(engine), traced)).status).toBe(202);
      const [job] = await coreOf(engine).store.db.selectFrom('jobs').select('payload').execute();
      expect(JSON.parse(job!.payload).traceContext).toEqual(expected);
      await engine.close();
    }
  });

  it('cost a request nothing if they are disabled: no clock is read, and no observer is called', async () => {
    const clock = vi.spyOn(performance, 'now');
    const timed = async (url: string) => {
      const request = () =>
        new Promise<void>((resolve, reject) => {
          get(`${url}/v2.1/flavors/1`, { headers, agent: false }, (res) => res.resume().on('end', resolve)).on(
            'error',
            reject,
          );
        });
      await request();
      clock.mockClear();
      await request();
      return clock.mock.calls.length;
    };
    const traces = openTelemetry();
    const off = await createEngine({ worker: false });
    const on = await createEngine({ worker: false, observer: traces.engine });
    expect(await timed(await listen(computeApi({ engine: off, identity: noauth() })))).toBe(0);
    expect(await timed(await serve(on))).toBeGreaterThan(10);
    clock.mockRestore();
    await off.close();
    await on.close();
  });
});
