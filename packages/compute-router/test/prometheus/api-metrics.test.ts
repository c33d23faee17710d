import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { afterEach, expect, it } from 'vitest';
import { prometheusMetrics } from '../../src/prometheus/index.js';

let server: Server | undefined;
afterEach(() => void server?.close());

it('quotaMetrics() counts rejections of project quotas by kind', async () => {
  const metrics = prometheusMetrics();
  const quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 1 } });
  const counted = enforceQuota({ quota, kind: 'secrets', project: () => 'p1', onExceeded: metrics.quota });
  server = createServer((req, res) => void counted(req, res, () => res.writeHead(201).end()));
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const post = async () => {
    const { port } = server!.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { connection: 'close' } })).status;
  };
  expect([await post(), await post(), await post()]).toEqual([201, 403, 403]);
  const [line] = (await metrics.register.metrics()).match(/^apistrata_project_quota_rejections_total.*$/m) ?? [];
  expect(line).toBe('apistrata_project_quota_rejections_total{kind="secrets"} 2');
});
