import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@apistrata/compute-engine/hosts';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { createHostHealthEndpoint } from '../src/health.js';
import { readOptions } from '../src/read-options.js';
import { HostCloud } from './host-cloud.js';

const postgresUrl = inject('postgresUrl');
const json = { headers: { accept: 'application/json' } };

describe.skipIf(!postgresUrl)('a host process with --metrics-port', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-host-monitoring-'));
  let cloud: HostCloud;
  let url: string;
  let metrics: string;
  let server: string;

  beforeAll(async () => {
    cloud = new HostCloud(await freshDatabase(postgresUrl), folder, 0);
    await cloud.startApi();
    const host = await cloud.startHost('h1', ['--metrics-port', '0']);
    const [, served] = /Metrics (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(host.output()) ?? expect.fail('no URL');
    url = served!.replace(/\/metrics$/, '');
    server = await cloud.create('web', { host: 'h1' });
    await cloud.settled(server);
    metrics = await (await fetch(served!)).text();
  }, 60_000);
  afterAll(async () => {
    await cloud.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const sampleValue = (sample: string) => {
    const line = metrics.split('\n').find((one) => one.startsWith(`${sample} `));
    return Number(line?.slice(sample.length) ?? Number.NaN);
  };

  it('serves the metrics of the host, of its guests and of the process', () => {
    expect(sampleValue('apistrata_host_guests{host="h1",state="running"}')).toBe(1);
    expect(sampleValue('apistrata_host_memory_bytes{host="h1"}')).toBeGreaterThan(2 ** 28);
    expect(sampleValue('apistrata_host_cpu_seconds_total{host="h1",mode="idle"}')).toBeGreaterThan(0);
    expect(sampleValue('apistrata_host_heartbeat_age_seconds{host="h1"}')).toBeLessThan(5);
    expect(sampleValue('apistrata_host_lease_seconds{host="h1"}')).toBeLessThanOrEqual(1.5);
    expect(sampleValue('apistrata_host_fenced{host="h1"}')).toBe(0);
    expect(sampleValue(`apistrata_guest_info{server="${server}",name="web",project="demo"}`)).toBe(1);
    expect(sampleValue(`apistrata_guest_cpus{server="${server}"}`)).toBe(1);
    expect(sampleValue('apistrata_guests_unresponsive')).toBe(0);
    expect(sampleValue('process_resident_memory_bytes')).toBeGreaterThan(0);
    expect(metrics).not.toMatch(/apistrata_(?:requests|jobs)/);
  });

  it('serves the metrics of its database connections', () => {
    const statement = '{statement="update host_orders"}';
    expect(sampleValue(`apistrata_statement_duration_seconds_count${statement}`)).toBeGreaterThan(0);
    expect(sampleValue(`apistrata_statement_rows_total${statement}`)).toBeGreaterThan(0);
    expect(sampleValue('apistrata_database_connections_max')).toBeGreaterThan(0);
    expect(sampleValue('apistrata_database_connection_wait_seconds_count')).toBeGreaterThan(0);
  });

  it('serves its health without details, and nothing else', async () => {
    for (const path of ['/healthcheck', '/readyz']) {
      const response = await fetch(`${url}${path}`, json);
      expect([response.status, await response.json()]).toEqual([200, { detailed: false, reasons: ['OK', 'OK'] }]);
    }
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    for (const path of ['/', '/v2.1', '/metrics/more']) expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  it('does not listen by default', async () => {
    const host = await cloud.startHost('h2');
    expect(host.output()).not.toContain('Metrics');
    await host.end('SIGTERM');
  });

  it('does not join the cloud if the port is in use', async () => {
    const other = createListener().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    await expect(cloud.startHost('h3', ['--metrics-port', String(port)])).rejects.toThrow(
      `port ${port} of 127.0.0.1 is in use: stop the other program, or choose another port with --metrics-port`,
    );
    expect((await cloud.request('GET', '/os-services?host=h3')).body.services).toEqual([]);
    await expect(cloud.startHost('h3', ['--metrics-port', '9000', '--link-port', '9000'])).rejects.toThrow(
      '--link-port and --metrics-port are both 9000: choose different ports',
    );
  });
});

describe('the health of a host', () => {
  const healthy = { healthy: true, reason: 'good' };

  async function responseOf(host: { heartbeat: object; machines: object } | undefined, args: readonly string[] = []) {
    const parts = host && {
      health: { heartbeat: async () => host.heartbeat, machines: async () => host.machines },
    };
    const log = { warn: () => {}, error: () => {} };
    const health = createHostHealthEndpoint(readOptions(args, {}), () => parts as Host | undefined, log);
    const server = createServer(health).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      health.close();
      server.closeAllConnections();
      server.close();
    });
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/healthcheck`, json);
    return `${response.status} ${await response.text()}`;
  }

  it('fails without a recent heartbeat, and while the host is starting', async () => {
    expect(await responseOf({ heartbeat: { healthy: false, reason: 'late' }, machines: healthy })).toMatch(/^503 /);
    expect(await responseOf(undefined)).toMatch(/^503 /);
  });

  it('explains why servers cannot start only if details are enabled', async () => {
    const host = { heartbeat: healthy, machines: { healthy: false, reason: 'no bridge br-int' } };
    const response = await responseOf(host);
    expect(response).toMatch(/^200 /);
    expect(response).not.toContain('br-int');
    expect(await responseOf(host, ['--healthcheck', 'detailed=true'])).toContain('no bridge br-int');
  });
});
