import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../../testing/send-request.js';
import { type UsageReport, type UsageReportOptions, usageReport, versioning } from '../../src/index.js';

function serve({ onVersion }: UsageReport): RequestListener {
  const negotiate = versioning({ versions: ['2024-01-31', '2025-03-01', '2026-11-22'], onVersion });
  return (req, res) => negotiate(req, res, () => res.end('ok'));
}

const requested = (version: string, client: string) => ({ headers: { 'API-Version': version, 'User-Agent': client } });

/** A report whose time advances by a second with each request. */
function createReport(options: Partial<UsageReportOptions> = {}): UsageReport {
  let time = 0;
  return usageReport({ client: (req) => req.headers['user-agent'], now: () => (time += 1000), ...options });
}

describe('the report of client usage', () => {
  it('counts requests by version and client', async () => {
    const usage = createReport({ maxClients: 2 });
    const listener = serve(usage);
    for (const client of ['a', 'b', 'b', 'c']) await sendRequest(listener, requested('2024-01-31', client));
    await sendRequest(listener, { headers: { 'User-Agent': 'a' } });
    await sendRequest(listener, requested('2026-11-22', 'a'));
    await sendRequest(listener, requested('2020-01-01', 'a'));
    expect(usage.versions()).toEqual([
      {
        version: '2024-01-31',
        requests: 5,
        withoutVersion: 1,
        lastSeen: new Date(5000),
        clients: [
          { client: 'a', requests: 2, lastSeen: new Date(5000) },
          { client: 'b', requests: 2, lastSeen: new Date(3000) },
        ],
      },
      {
        version: '2026-11-22',
        requests: 1,
        withoutVersion: 0,
        lastSeen: new Date(6000),
        clients: [{ client: 'a', requests: 1, lastSeen: new Date(6000) }],
      },
    ]);
  });

  it('is available as Prometheus metrics, with a bounded number of clients', async () => {
    const usage = createReport({ maxClients: 1 });
    const listener = serve(usage);
    for (const client of ['', 'a "1" \\', 'b']) await sendRequest(listener, requested('2024-01-31', client));
    await sendRequest(listener, { headers: { 'User-Agent': '' } });
    await sendRequest(listener, requested('2026-11-22', 'a'));
    expect(usage.metrics()).toBe(`# HELP api_version_requests_total Requests by version and client.
# TYPE api_version_requests_total counter
api_version_requests_total{version="2024-01-31",client="a \\"1\\" \\\\"} 1
api_version_requests_total{version="2024-01-31",client=""} 3
api_version_requests_total{version="2026-11-22",client="a"} 1
api_version_requests_total{version="2026-11-22",client=""} 0
# HELP api_version_requests_without_version_total Requests that did not name a version.
# TYPE api_version_requests_without_version_total counter
api_version_requests_without_version_total{version="2024-01-31"} 1
api_version_requests_without_version_total{version="2026-11-22"} 0
# HELP api_version_last_request_timestamp_seconds Unix time of the last request.
# TYPE api_version_last_request_timestamp_seconds gauge
api_version_last_request_timestamp_seconds{version="2024-01-31"} 4
api_version_last_request_timestamp_seconds{version="2026-11-22"} 5
`);
  });

  it('has one series for each version in its metrics if clients are not counted', async () => {
    const usage = usageReport();
    await sendRequest(serve(usage), requested('2025-03-01', 'a'));
    expect(usage.metrics()).toContain('\napi_version_requests_total{version="2025-03-01",client=""} 1\n# HELP');
  });

  it('rejects unknown options', () => {
    expect(() => usageReport({ clients: () => 'a' } as never)).toThrow(
      "usageReport: unknown option 'clients' (known: client, maxClients, now)",
    );
  });
});
