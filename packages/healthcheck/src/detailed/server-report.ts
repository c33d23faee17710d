import { arch, hostname, release, type } from 'node:os';
import { type AsyncResources, type FollowedResources, watchAsyncResources } from './async-resources.js';
import { type GarbageCollectorReport, type GarbageCollectorWatch, watchGarbageCollector } from './garbage-collector.js';
import { threadStacks } from './thread-stacks.js';

/** The state of the process, as detailed responses show it. */
export interface ServerReport {
  /** Empty if it is unknown. */
  readonly hostname: string;
  /** UTC, `2026-01-31 12:34:56.789000`. */
  readonly now: string;
  /** Kernel, release and architecture. */
  readonly platform: string;
  /** The versions of Node.js and V8. */
  readonly runtimeVersion: string;
  readonly uptimeSeconds: number;
  readonly gc: GarbageCollectorReport;
  /** One entry per pending asynchronous resource. */
  readonly greenthreads: readonly string[];
  /** One stack trace per thread. */
  readonly threads: readonly string[];
}

/** Observes the process until it is stopped. */
export interface ServerWatch {
  /** Concurrent callers share one collection. */
  report(): Promise<ServerReport>;
  /** Runs a response to a probe: resources that it creates are not reported as pending before it has ended. */
  readonly duringProbe: AsyncResources['duringProbe'];
  stop(): void;
}

interface SharedWatch extends ServerWatch {
  users: number;
}

/** Detailed endpoints of a process with the same tracking share one watch. */
const running = new Map<FollowedResources, SharedWatch>();

/**
 * Installs the observer and the tracking hook that a report needs, unless another endpoint has installed them. They are
 * removed when the last endpoint stops its watch.
 */
export function watchServer(followed: FollowedResources): ServerWatch {
  const shared = running.get(followed) ?? startWatch(followed);
  running.set(followed, shared);
  shared.users++;
  let stopped = false;
  return {
    report: shared.report,
    duringProbe: shared.duringProbe,
    stop() {
      if (stopped) return;
      stopped = true;
      if (--shared.users > 0) return;
      running.delete(followed);
      shared.stop();
    },
  };
}

function startWatch(followed: FollowedResources): SharedWatch {
  const collector: GarbageCollectorWatch = watchGarbageCollector();
  const resources: AsyncResources = watchAsyncResources(followed);
  let collecting: Promise<ServerReport> | undefined;

  async function collect(): Promise<ServerReport> {
    const greenthreads = resources.list();
    return {
      hostname: hostname(),
      now: timestamp(new Date()),
      platform: `${type()}-${release()}-${arch()}`,
      runtimeVersion: `Node.js ${process.version} (V8 ${process.versions.v8})`,
      uptimeSeconds: Math.floor(process.uptime()),
      gc: collector.report(),
      greenthreads,
      threads: await threadStacks(),
    };
  }

  return {
    users: 0,
    duringProbe: resources.duringProbe,
    report() {
      collecting ??= collect().finally(() => {
        collecting = undefined;
      });
      return collecting;
    },
    stop() {
      collector.stop();
      resources.stop();
    },
  };
}

/** The platform's clock has milliseconds; the format requires six digits. */
function timestamp(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('Z', '000');
}
