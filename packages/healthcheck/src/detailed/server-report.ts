import { arch, hostname, release, type } from 'node:os';
import { type AsyncResources, type TrackedResources, watchAsyncResources } from './async-resources.js';
import { type GarbageCollectorReport, type GarbageCollectorWatch, watchGarbageCollector } from './garbage-collector.js';
import { threadStacks } from './thread-stacks.js';

/** The state of the process in detailed responses. */
export interface ServerReport {
  /** The host name; empty if it is unknown. */
  readonly hostname: string;
  /** The current time in UTC, such as `2026-01-31 12:34:56.789000`. */
  readonly now: string;
  /** The operating system, its release and the CPU architecture, joined by hyphens. */
  readonly platform: string;
  /** The Node.js and V8 versions. */
  readonly runtimeVersion: string;
  readonly uptimeSeconds: number;
  readonly gc: GarbageCollectorReport;
  /** One entry for each pending asynchronous resource. */
  readonly greenthreads: readonly string[];
  /** One stack trace for each thread. */
  readonly threads: readonly string[];
}

/** Observes the process until `stop` is called. */
export interface ServerWatch {
  /** Collects the state of the process. Concurrent calls share one report. */
  report(): Promise<ServerReport>;
  /**
   * Calls `respond`, which responds to a probe. Resources that the probe creates are not reported until its response
   * has ended.
   */
  readonly duringProbe: AsyncResources['duringProbe'];
  stop(): void;
}

interface SharedWatch extends ServerWatch {
  users: number;
}

/** The active watches. Detailed health checks that track the same resources share one watch. */
const activeWatches = new Map<TrackedResources, SharedWatch>();

/**
 * Starts the performance observer and the async hook that reports require, unless another health check has started
 * them. They are removed when the last health check stops its watch.
 */
export function watchServer(tracked: TrackedResources): ServerWatch {
  const sharedWatch = activeWatches.get(tracked) ?? startWatch(tracked);
  activeWatches.set(tracked, sharedWatch);
  sharedWatch.users++;
  let isStopped = false;
  return {
    report: sharedWatch.report,
    duringProbe: sharedWatch.duringProbe,
    stop() {
      if (isStopped) return;
      isStopped = true;
      if (--sharedWatch.users > 0) return;
      activeWatches.delete(tracked);
      sharedWatch.stop();
    },
  };
}

function startWatch(tracked: TrackedResources): SharedWatch {
  const gcWatch: GarbageCollectorWatch = watchGarbageCollector();
  const resources: AsyncResources = watchAsyncResources(tracked);
  let pendingReport: Promise<ServerReport> | undefined;

  async function collectReport(): Promise<ServerReport> {
    const greenthreads = resources.list();
    return {
      hostname: hostname(),
      now: formatTimestamp(new Date()),
      platform: `${type()}-${release()}-${arch()}`,
      runtimeVersion: `Node.js ${process.version} (V8 ${process.versions.v8})`,
      uptimeSeconds: Math.floor(process.uptime()),
      gc: gcWatch.report(),
      greenthreads,
      threads: await threadStacks(),
    };
  }

  return {
    users: 0,
    duringProbe: resources.duringProbe,
    report() {
      pendingReport ??= collectReport().finally(() => {
        pendingReport = undefined;
      });
      return pendingReport;
    },
    stop() {
      gcWatch.stop();
      resources.stop();
    },
  };
}

/** Formats a time with microseconds, which the documented format requires. The last three digits are always zero. */
function formatTimestamp(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('Z', '000');
}
