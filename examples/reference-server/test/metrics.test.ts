import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { alertRules, dashboardExpressions, dashboardVariables } from './dashboard.js';
import { type Program, runProgram, sendRequest, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const page = readFileSync(join(import.meta.dirname, '../../../docs/operating/metrics.md'), 'utf8');

/** Returns the names of metrics in an expression, without the keywords of PromQL. */
function metricsIn(expression: string): string[] {
  return [...expression.replaceAll(/"[^"]*"/g, '').matchAll(/\b(?:apistrata|nodejs|process)_[a-z0-9_]+/g)].map(
    ([name]) => name,
  );
}

/** Scrapes the metrics. Returns the value of each sample by `name{labels}`. */
async function scrape(url: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')]);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const nameOf = (sample: string) => sample.replace(/\{.*$/, '');

const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'SQLite', url: async () => ':memory:' },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];

describe.each(databases)('metrics of the reference server on $kind, after various requests', ({ kind, url }) => {
  let cloud: TestCloud;
  let program: Program;
  let metricsUrl: string;
  let samples: ReadonlyMap<string, number>;

  beforeAll(async () => {
    cloud = await startCloud();
    program = await startProgram(
      [
        ...['--db', await url(), '--metrics-port', '0', '--log-level', 'silent', '--quota', 'instances=2'],
        ...['--auth', 'identity', '--identity-url', cloud.authUrl.replace(/\/v3\/?$/, '')],
      ],
      { OS_USERNAME: 'admin', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'demo' },
    );
    metricsUrl = (await program.printed(/Metrics +(http:\S+)/))[1]!;
    const token = cloud.token('ada', 'demo');
    const compute = (method: string, path: string, body?: unknown, version?: string) =>
      sendRequest(program.url, method, `/v2.1${path}`, { token, version, body });
    const server = (name: string) => ({
      server: { name, flavorRef: '1', imageRef: IMAGE, networks: 'none' },
    });
    const settled = async (id: string, status: string) =>
      eventually(async () => expect((await compute('GET', `/servers/${id}`)).body.server).toMatchObject({ status }), {
        interval: 50,
      });
    const created = await compute('POST', '/servers', server('web'), '2.37');
    const { id } = created.body.server;
    await settled(id, 'ACTIVE');
    await compute('POST', '/servers', server('db'), '2.90').then(({ body }) => settled(body.server.id, 'ACTIVE'));
    expect((await compute('POST', '/servers', server('one too many'), '2.90')).status).toBe(403);
    await compute('POST', `/servers/${id}/action`, { 'os-stop': null });
    await settled(id, 'SHUTOFF');
    await compute('GET', '/servers/detail', undefined, '2.100');
    await compute('GET', '/nowhere/at/all');
    await compute('GET', '/servers/00000000-0000-0000-0000-000000000000');
    await sendRequest(program.url, 'GET', '/v2.1/servers', { token: 'unknown' });
    for (const path of ['/', '/v2.1/', '/healthcheck', '/livez', '/v1/quotas']) await fetch(`${program.url}${path}`);
    // A server is ACTIVE before its job is counted and deleted.
    samples = await eventually(async () => {
      const scraped = await scrape(metricsUrl);
      expect(scraped.get('apistrata_jobs_total{kind="create",outcome="done"}')).toBe(2);
      expect(scraped.get('apistrata_jobs_pending')).toBe(0);
      expect(scraped.get('apistrata_request_duration_seconds_count{operation="quotas"}')).toBe(1);
      return scraped;
    });
  });

  afterAll(async () => {
    expect(await program.end('SIGTERM')).toBe(0);
    await cloud.stop();
  });

  const value = (sample: string) => samples.get(sample);

  it('count requests by operation, version and status, and unknown paths under one name', () => {
    expect(value('apistrata_requests_total{operation="POST /servers",version="2.37",status="202"}')).toBe(1);
    expect(value('apistrata_requests_total{operation="POST /servers",version="2.90",status="403"}')).toBe(1);
    expect(
      value('apistrata_requests_total{operation="POST /servers/{id}/action os-stop",version="2.1",status="202"}'),
    ).toBe(1);
    expect(value('apistrata_requests_total{operation="none",version="none",status="404"}')).toBe(1);
    expect(value('apistrata_requests_total{operation="none",version="none",status="401"}')).toBe(1);
    expect(value('apistrata_versions_total{version="2.100",requested="yes"}')).toBe(1);
    expect(value('apistrata_versions_total{version="2.1",requested="no"}')).toBeGreaterThan(2);
  });

  it('count responses without an operation, each once', () => {
    const unrouted = [...samples].filter(([sample]) => /_total\{operation="(?:versions|health|quotas)"/.test(sample));
    expect(Object.fromEntries(unrouted)).toEqual({
      'apistrata_requests_total{operation="versions",version="none",status="200"}': 2,
      'apistrata_requests_total{operation="health",version="none",status="200"}': 2,
      'apistrata_requests_total{operation="quotas",version="none",status="401"}': 1,
    });
    expect(value('apistrata_request_duration_seconds_count{operation="health"}')).toBe(2);
  });

  it('count servers, jobs, quota rejections, identity lookups and connections', () => {
    expect(value('apistrata_servers{state="active"}')).toBe(1);
    expect(value('apistrata_servers{state="stopped"}')).toBe(1);
    expect(value('apistrata_jobs_total{kind="create",outcome="done"}')).toBe(2);
    expect(value('apistrata_quota_rejections_total{kind="instances"}')).toBe(1);
    expect(value('apistrata_identity_lookups_total{found="requested"}')).toBe(2);
    expect(value('apistrata_identity_lookups_total{found="known"}')).toBeGreaterThan(2);
    expect(value('apistrata_jobs_pending')).toBe(0);
    expect(value('apistrata_database_connections_max')).toBe(kind === 'SQLite' ? 1 : 10);
    expect(value('apistrata_statement_rows_total{statement="insert servers"}')).toBe(2);
    expect(value('apistrata_connections')).toBeGreaterThan(0);
  });

  it('have no ids in their labels', () => {
    const ids = [...samples.keys()].filter((sample) => /[0-9a-f]{8}-[0-9a-f]{4}|req-|demo/.test(sample));
    expect(ids).toEqual([]);
  });

  // No failure occurred, and series without events do not exist.
  const never = [
    'apistrata_statement_errors_total',
    'apistrata_events_dropped_total',
    'apistrata_events_rejected_total',
  ];
  // These metrics require virtual machines, which long/dashboard-queries.test.ts starts.
  const ofMachines = /^apistrata_(?:guest|host)_/;
  // Some series exist on one database only, such as shared commits on SQLite.
  const exists = (name: string) =>
    [...samples.keys()].some((sample) => nameOf(sample) === name) || (kind !== 'SQLite' && name.includes('_commit_'));

  it('include all metrics of the dashboard', () => {
    const shown = dashboardExpressions.flatMap(metricsIn);
    expect(shown.length).toBeGreaterThan(30);
    const missing = shown.filter((n) => !exists(n) && !never.includes(n) && !ofMachines.test(n));
    expect(missing).toEqual([]);
  });

  it('are filtered by the selected job and instances in every expression of the dashboard', () => {
    const selected = '\\{job="\\$job",instance=~"\\$instance"[,}]';
    const unselected = new RegExp(`\\b(?:apistrata|nodejs|process)_[a-z0-9_]+(?!${selected}|[a-z0-9_])`);
    expect(dashboardExpressions.filter((expression) => unselected.test(expression))).toEqual([]);
    expect([...dashboardVariables.keys()]).toEqual(['job', 'instance']);
    const listed = [...dashboardVariables.values()].flatMap(metricsIn);
    expect(listed).toHaveLength(2);
    expect(listed.filter((name) => !exists(name))).toEqual([]);
  });

  it('include all metrics of the alerts, and each alert is documented', () => {
    const watched = alertRules.flatMap(({ expr }) => metricsIn(expr));
    expect(watched.length).toBeGreaterThan(8);
    expect(watched.filter((n) => !exists(n) && !never.includes(n) && !ofMachines.test(n))).toEqual([]);
    expect(alertRules.map(({ alert }) => alert).filter((alert) => !page.includes(`\`${alert}\``))).toEqual([]);
  });

  it('are all documented, and all documented ones exist', async () => {
    const text = await (await fetch(metricsUrl)).text();
    const exported = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    const described = new Set(metricsIn(page).filter((name) => !/_(?:bucket|sum|count)$/.test(name)));
    expect(exported.filter((name) => !described.has(name))).toEqual([]);
    expect([...described].filter((name) => !exported.includes(name))).toEqual([]);
  });

  it('are served for GET and HEAD only, without other paths', async () => {
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405);
    expect((await fetch(metricsUrl.replace('/metrics', '/v2.1'))).status).toBe(404);
    expect(await (await fetch(`${program.url}/metrics`)).text()).not.toContain('apistrata_');
  });
});

describe('the location of metrics', () => {
  it('is the port of the API with --metrics', async () => {
    const program = await startProgram(['--db', ':memory:', '--metrics', '--log-level', 'silent']);
    const samples = await scrape(`${program.url}/metrics`);
    expect(samples.get('apistrata_database_connections_max')).toBe(1);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('is rejected with the name of the option if the port is in use', async () => {
    const program = await startProgram(['--db', ':memory:', '--metrics-port', '0', '--log-level', 'silent']);
    const usedPort = new URL((await program.printed(/Metrics +(http:\S+)/))[1]!).port;
    const { code, output } = await runProgram(['--db', ':memory:', '--port', '0', '--metrics-port', usedPort]);
    expect(code).toBe(1);
    expect(output).toContain(
      `port ${usedPort} of 127.0.0.1 is in use: stop the other program, or choose another port with --metrics-port`,
    );
    expect(await program.end('SIGTERM')).toBe(0);
  });
});
