import type { Store } from '@apistrata/record-store';
import type { Core } from '../../core/core.js';
import { groupBy } from '../../core/group-by.js';
import { badRequest } from '../../errors/rejection.js';
import type { LaunchedServer, UsedServer } from '../../retention/server-usage.js';
import { usedServers } from '../../retention/used-servers.js';
import { tables } from '../../schema/tables.js';

/**
 * A period of time that excludes its end. Times are in microseconds since the epoch, the precision that requests use.
 */
export interface UsageWindow {
  readonly startUs: number;
  readonly endUs: number;
}

export interface UsageQuery {
  readonly window: UsageWindow;
  /** Id of the project whose usage is reported. Default: all projects. */
  readonly projectId?: string;
  /** Maximum number of servers on the page. */
  readonly limit: number;
  /** Id of the last server on the previous page. */
  readonly marker?: string;
}

/** A server's usage in a period. */
export interface ServerUsage {
  readonly server: LaunchedServer;
  readonly hours: number;
  /** Whole seconds from the server's launch to its termination, or until now. */
  readonly uptimeSeconds: number;
}

/** A project's usage in a period, summed over the project's servers on the current page. */
export interface ProjectUsage {
  readonly projectId: string;
  readonly window: UsageWindow;
  readonly servers: readonly ServerUsage[];
  readonly totalHours: number;
  readonly totalVcpuHours: number;
  readonly totalMemoryMbHours: number;
  readonly totalLocalGbHours: number;
}

const MICROSECONDS_PER_HOUR = 3_600_000_000;

/** Returns how long a server ran in a period, in microseconds. */
function runtimeMicrosecondsOf({ launchedAt, terminatedAt }: LaunchedServer, { startUs, endUs }: UsageWindow): number {
  const from = Math.max(startUs, launchedAt * 1000);
  const to = terminatedAt === null ? endUs : Math.min(endUs, terminatedAt * 1000);
  return Math.max(0, to - from);
}

function summarizeProjectUsage(
  projectId: string,
  servers: readonly LaunchedServer[],
  window: UsageWindow,
  now: number,
): ProjectUsage {
  const serverUsages = servers.map((server) => ({ server, us: runtimeMicrosecondsOf(server, window) }));
  // The usage is summed in integers, so that only the final division rounds.
  const total = (size: (server: UsedServer) => number) => {
    const sum = serverUsages.reduce((sum, { server, us }) => sum + BigInt(size(server)) * BigInt(us), 0n);
    return Number(sum) / MICROSECONDS_PER_HOUR;
  };
  return {
    projectId,
    window,
    servers: serverUsages.map(({ server, us }) => ({
      server,
      hours: us / MICROSECONDS_PER_HOUR,
      uptimeSeconds: Math.max(0, Math.floor(((server.terminatedAt ?? now) - server.launchedAt) / 1000)),
    })),
    totalHours: total(() => 1),
    totalVcpuHours: total(({ flavor }) => flavor.vcpus),
    totalMemoryMbHours: total(({ flavor }) => flavor.memoryMb),
    totalLocalGbHours: total(({ flavor }) => flavor.diskGb + flavor.ephemeralGb),
  };
}

async function findKnownServer(store: Store, id: string): Promise<UsedServer | undefined> {
  return (await tables.servers.get(store, id)) ?? tables.serverUsage.get(store, id);
}

/** Reports server usage over time, including deleted servers and, for `usageRetentionDays`, purged servers. */
export class Usage {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns a page of the servers that ran in a period, sorted by project and id, and grouped by project. */
  async report(query: UsageQuery): Promise<readonly ProjectUsage[]> {
    const byProject = groupBy(await this.#servers(query), ({ projectId }) => projectId);
    const now = this.#core.clock.now();
    return [...byProject].map(([projectId, servers]) => summarizeProjectUsage(projectId, servers, query.window, now));
  }

  async #servers({ window, projectId, limit, marker }: UsageQuery): Promise<readonly LaunchedServer[]> {
    const { store } = this.#core;
    const markerServer =
      marker === undefined || marker.includes('\0') ? undefined : await findKnownServer(store, marker);
    if (marker !== undefined && !markerServer) throw badRequest(`marker [${marker}] not found`);
    return usedServers(store, {
      start: Math.ceil(window.startUs / 1000),
      end: Math.ceil(window.endUs / 1000),
      projectId,
      limit,
      after: markerServer,
    });
  }
}
