import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { ALERT_RULES, alertRules, dashboardExpressions, dashboardVariables } from '../dashboard.js';
import { HostCloud } from '../host-cloud.js';
import { missingForPrometheus, PrometheusServer, type Sample } from '../prometheus-server.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForPrometheus() ?? missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing)
  console.warn(`\n*** SKIPPED: queries of the dashboard and of alerts: this machine has no ${missing} ***\n`);

const JOB = 'apistrata';

/** Parts of dashboard expressions that return no results in this test, with the reason. */
const WITHOUT_SERIES: Readonly<Record<string, string>> = {
  'status=~"5.."': 'no request fails with a server error',
  apistrata_statement_errors_total: 'no statement fails',
  apistrata_identity_lookups_total: 'this cloud has no identity service',
  apistrata_guest_network_:
    'user-mode networks have no counters; packages/qemu/test/long/bridges.test.ts checks the counters of bridges',
};

/** Alerts whose series do not exist in this test, with the reason. */
const ALERTS_WITHOUT_SERIES: Readonly<Record<string, string>> = {
  ApistrataErrors: 'no request fails with a server error',
  ApistrataJobsFail: 'no job fails',
  ApistrataServersInError: 'no server is in error',
  ApistrataDatabaseErrors: 'no statement fails',
  ApistrataEventsDropped: 'there is no webhook',
  ApistrataEventsRejected: 'there is no webhook',
};

const hasNoSeries = (expression: string) => Object.keys(WITHOUT_SERIES).some((part) => expression.includes(part));

/** Returns the expression as Grafana sends it when all instances are selected. */
const normalized = (expression: string) =>
  expression.replaceAll('$job', JOB).replaceAll('$instance', '.*').replaceAll('$__rate_interval', '15s');

/** Returns the expression that an alert compares with its threshold. */
function comparedExpressionOf(expression: string): string {
  const [, comparedExpression] =
    /^(.*?)\s*(?:==|<|>)\s*[\d.]+$/s.exec(expression) ?? expect.fail(`${expression} has no threshold`);
  return comparedExpression!;
}

describe.skipIf(missing)('a real Prometheus', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'aq-p-'));
  let cloud: HostCloud;
  let prometheus: PrometheusServer;
  /** The metrics of the API, of a host with a virtual machine, and of one with simulated machines. */
  let targets: readonly string[];
  let web: string;

  beforeAll(async () => {
    chmodSync(folder, 0o711);
    const image = join(folder, 'nothing.img');
    writeFileSync(image, Buffer.alloc(2 ** 20));
    cloud = new HostCloud(await freshDatabase(postgresUrl), folder, 0);
    const metrics = ['--metrics-port', '0'];
    const programs = [await cloud.startApi([...metrics, '--quota', 'instances=2', '--image', `nothing=${image}`])];
    const qemu = ['--driver', 'qemu', '--acceleration', 'tcg'];
    targets = [
      ...programs,
      await cloud.startHost('h1', [...metrics, ...qemu]),
      await cloud.startHost('h2', metrics),
    ].map((program) => /Metrics +(http:\S+)/.exec(program.output())?.[1] ?? expect.fail('no URL of metrics'));
    const { body } = await cloud.request('GET', '/images?name=nothing', undefined, '2.1');
    web = await cloud.create('web', { host: 'h1', imageRef: body.images[0].id });
    expect(await cloud.settled(web)).toMatchObject({ status: 'ACTIVE', fault: undefined });
    prometheus = await PrometheusServer.start(JOB, targets, ALERT_RULES);
  }, 120_000);
  afterAll(async () => {
    await prometheus?.end();
    if (web) {
      await cloud.request('DELETE', `/servers/${web}`);
      await eventually(async () => expect((await cloud.request('GET', `/servers/${web}`)).status).toBe(404));
    }
    await cloud?.end();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Causes requests, jobs, machine commands, and rejections by quotas. */
  async function generateLoad(): Promise<void> {
    const id = await cloud.create('short', { host: 'h2' });
    await expect(cloud.create('one too many')).rejects.toThrow('Quota exceeded');
    await cloud.settled(id);
    await cloud.request('DELETE', `/servers/${id}`);
    await expect.poll(async () => (await cloud.request('GET', `/servers/${id}`)).status).toBe(404);
  }

  /**
   * Returns why the result of an expression is not plausible; undefined if it is plausible. NaN, such as the quantile
   * of an operation without requests, is not plausible.
   */
  async function problemOf(expression: string): Promise<string | undefined> {
    const values = (await prometheus.query(expression)).map(({ value }) => value);
    if (values.length === 0) return `${expression}: no result`;
    return values.every((value) => Number.isFinite(value) && value >= 0) ? undefined : `${expression}: ${values}`;
  }

  async function problemsOf(expressions: readonly string[]): Promise<readonly string[]> {
    await generateLoad();
    const problems = await Promise.all(expressions.map(problemOf));
    return problems.filter((problem) => problem !== undefined);
  }

  const valuesBy = (samples: readonly Sample[], ...labels: readonly string[]) =>
    Object.fromEntries(samples.map((sample) => [labels.map((one) => sample.labels[one]).join(' '), sample.value]));

  it('scrapes all processes, and lists them as values of the variables of the dashboard', async () => {
    const instances = targets.map((target) => new URL(target).host).sort();
    const up = async () => valuesBy(await prometheus.query(`up{job="${JOB}"}`), 'instance');
    await expect.poll(up, { timeout: 30_000 }).toEqual(Object.fromEntries(instances.map((one) => [one, 1])));
    const valuesOf = async (variable: string) => {
      const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(normalized(dashboardVariables.get(variable)!))!;
      return prometheus.labelValues(selector!, label!);
    };
    await expect.poll(() => valuesOf('job')).toEqual([JOB]);
    await expect.poll(async () => [...(await valuesOf('instance'))].sort()).toEqual(instances);
  });

  it('executes every expression of the dashboard, with a plausible result', async () => {
    const shown = dashboardExpressions.filter((expression) => !hasNoSeries(expression)).map(normalized);
    expect(shown.length).toBeGreaterThan(45);
    await expect.poll(() => problemsOf(shown), { timeout: 120_000 }).toEqual([]);
  });

  it('accepts the expressions that are listed as having no series, and returns none', async () => {
    const unseen = dashboardExpressions.filter(hasNoSeries);
    expect(Object.keys(WITHOUT_SERIES).filter((part) => !unseen.join().includes(part))).toEqual([]);
    for (const expression of unseen)
      expect([expression, await prometheus.query(normalized(expression))]).toEqual([expression, []]);
  });

  it('shows correct values for the hosts', async () => {
    const shown = async (title: RegExp, ...labels: readonly string[]) => {
      const expression = dashboardExpressions.find((one) => title.test(one)) ?? expect.fail(`${title} is not shown`);
      return valuesBy(await prometheus.query(normalized(expression)), ...labels);
    };
    for (const share of [
      /^1 - sum by \(host\) \(rate\(apistrata_host_cpu/,
      /^1 - max by \(host\) \(apistrata_host_memory/,
    ])
      for (const value of Object.values(await shown(share, 'host'))) expect(value).toBeLessThanOrEqual(1);
    const { blocks, bsize } = statfsSync(folder);
    expect(await shown(/^max by \(host\) \(apistrata_host_disk_bytes/, 'host')).toEqual({ h1: blocks * bsize });
    expect(await shown(/apistrata_host_guests/, 'host', 'state')).toMatchObject({ 'h1 running': 1, 'h2 paused': 0 });
    expect(await shown(/^sum\(1 - apistrata_host_ready/)).toEqual({ '': 0 });
    const lease = await shown(/apistrata_host_lease_seconds/, 'host');
    expect(Object.keys(lease).sort()).toEqual(['h1', 'h2']);
    for (const seconds of Object.values(lease)) expect(seconds).toBeLessThanOrEqual(1.5);
    expect(await shown(/apistrata_guest_memory_used_bytes/, 'server', 'name')).toHaveProperty(`${web} web`);
    const modes = await shown(/mode!="idle"/, 'mode');
    const busy = Object.values(modes).reduce((sum, value) => sum + value, 0);
    // Both hosts are this computer. A rate is extrapolated, so it may be slightly too large.
    expect(busy).toBeLessThan(2 * cpus().length * 1.2);
  });

  it('evaluates every alert rule, and finds a value to compare with its threshold', async () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', ALERT_RULES], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([
      0,
      expect.stringContaining(`SUCCESS: ${alertRules.length} rules found`),
    ]);
    const evaluated = async () => (await prometheus.rules()).map(({ name, health }) => [name, health]);
    await expect.poll(evaluated).toEqual(alertRules.map(({ alert }) => [alert, 'ok']));
    const comparedExpressions = alertRules
      .filter(({ alert }) => !(alert in ALERTS_WITHOUT_SERIES))
      // Alerts do not fire for NaN, because each comparison with NaN is false.
      .map(({ expr }) => `(${comparedExpressionOf(expr)}) >= 0`);
    expect(comparedExpressions).toHaveLength(alertRules.length - Object.keys(ALERTS_WITHOUT_SERIES).length);
    await expect.poll(() => problemsOf(comparedExpressions), { timeout: 60_000 }).toEqual([]);
    for (const { alert, expr } of alertRules)
      if (alert in ALERTS_WITHOUT_SERIES)
        expect([alert, await prometheus.query(comparedExpressionOf(expr))]).toEqual([alert, []]);
  });

  it('reports an alert when a host ends', async () => {
    const instance = new URL(targets[2]!).host;
    const down = { alertname: 'ApistrataDown', instance };
    expect(await prometheus.alerts()).not.toContainEqual(expect.objectContaining(down));
    await cloud.kill('h2');
    await expect
      .poll(() => prometheus.alerts(), { timeout: 30_000 })
      .toContainEqual(expect.objectContaining({ ...down, severity: 'critical' }));
  });
});
