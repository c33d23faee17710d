import type { IncomingMessage } from 'node:http';
import { rejectUnknownOptions } from '../negotiation/reject-unknown.js';
import type { Version } from '../version.js';
import { usageMetrics } from './usage-metrics.js';
import type { VersionUsage } from './version-usage.js';
import type { VersionUse } from './versioning.js';

/** Options for {@link usageReport}. */
export interface UsageReportOptions {
  /**
   * Returns an identifier of the client, such as its account or `User-Agent`; undefined and an empty string count only
   * for the version. Default: clients are not counted.
   */
  readonly client?: (req: IncomingMessage) => string | undefined;
  /**
   * The maximum number of clients to count per version; requests from additional clients count only for the version.
   * Default 1000.
   */
  readonly maxClients?: number;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Counts requests by version and client. */
export interface UsageReport {
  /** Counts a request; pass it to `versioning()` as `onVersion`. */
  readonly onVersion: (use: VersionUse) => void;
  /** Returns the counts since the report was created, oldest version first. */
  readonly versions: () => readonly VersionUsage[];
  /**
   * Returns the counts in the Prometheus text format. Each version has at most `maxClients` series by client, and one
   * with an empty `client` for all other requests.
   */
  readonly metrics: () => string;
}

const USAGE_OPTIONS: Readonly<Record<keyof UsageReportOptions, true>> = {
  client: true,
  maxClients: true,
  now: true,
};

interface RequestCount {
  requests: number;
  lastSeen: number;
}

/**
 * Creates a report that counts, in memory, the requests of each client to each version.
 *
 * @throws TypeError if an option is unknown
 *
 * @example
 * ```ts
 * import { usageReport, versioning } from '@apistrata/microversion';
 * import express from 'express';
 *
 * const usage = usageReport({ client: (req) => req.headers['user-agent'] });
 * const app = express();
 * app.get('/versions', (_req, res) => void res.json(usage.versions()));
 * app.use(versioning({ versions: ['2025-03-01', '2026-11-22'], onVersion: usage.onVersion }));
 * ```
 */
export function usageReport(options: UsageReportOptions = {}): UsageReport {
  rejectUnknownOptions('usageReport', options, Object.keys(USAGE_OPTIONS));
  const { client, maxClients = 1000, now = Date.now } = options;
  const counts = new Map<
    string,
    RequestCount & { version: Version; withoutVersion: number; clients: Map<string, RequestCount> }
  >();

  function countRequest(entry: RequestCount, time: number): void {
    entry.requests += 1;
    entry.lastSeen = time;
  }

  function versions(): readonly VersionUsage[] {
    const ascendingCounts = [...counts.values()].sort((a, b) => a.version.compare(b.version));
    return ascendingCounts.map(({ version, requests, withoutVersion, lastSeen, clients }) => ({
      version: version.text,
      requests,
      withoutVersion,
      lastSeen: new Date(lastSeen),
      clients: [...clients]
        .map(([name, use]) => ({ client: name, requests: use.requests, lastSeen: new Date(use.lastSeen) }))
        .sort((a, b) => b.requests - a.requests),
    }));
  }

  return {
    onVersion({ version, source, req }) {
      const time = now();
      let entry = counts.get(version.text);
      if (!entry)
        counts.set(
          version.text,
          (entry = { version, requests: 0, withoutVersion: 0, lastSeen: time, clients: new Map() }),
        );
      countRequest(entry, time);
      if (source === undefined) entry.withoutVersion += 1;
      const name = client?.(req);
      if (!name) return;
      let clientCount = entry.clients.get(name);
      if (!clientCount && entry.clients.size < maxClients)
        entry.clients.set(name, (clientCount = { requests: 0, lastSeen: time }));
      if (clientCount) countRequest(clientCount, time);
    },
    versions,
    metrics: () => usageMetrics(versions()),
  };
}
