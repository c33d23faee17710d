import type { IncomingMessage } from 'node:http';
import type { Version } from '../version.js';
import type { VersionUse } from './versioning.js';

/** How often one client has used one version. */
export interface ClientUsage {
  readonly client: string;
  readonly requests: number;
  /** When the last request arrived. */
  readonly lastSeen: Date;
}

/** How often one version was used. */
export interface VersionUsage {
  readonly version: string;
  readonly requests: number;
  /** The number of requests that did not specify a version. */
  readonly withoutVersion: number;
  readonly lastSeen: Date;
  /** The clients that used the version, most requests first. Empty without the option `client`. */
  readonly clients: readonly ClientUsage[];
}

/** Options for {@link usageReport}. */
export interface UsageReportOptions {
  /** Returns an identifier of the client, such as its account or `User-Agent`. Default: clients are not counted. */
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
}

interface RequestCount {
  requests: number;
  lastSeen: number;
}

/**
 * Creates a report that counts, in memory, the requests of each client to each version.
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
export function usageReport({ client, maxClients = 1000, now = Date.now }: UsageReportOptions = {}): UsageReport {
  const counts = new Map<
    string,
    RequestCount & { version: Version; withoutVersion: number; clients: Map<string, RequestCount> }
  >();

  function countRequest(entry: RequestCount, time: number): void {
    entry.requests += 1;
    entry.lastSeen = time;
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
      if (name === undefined) return;
      let clientCount = entry.clients.get(name);
      if (!clientCount && entry.clients.size < maxClients)
        entry.clients.set(name, (clientCount = { requests: 0, lastSeen: time }));
      if (clientCount) countRequest(clientCount, time);
    },
    versions() {
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
    },
  };
}
