import { arch, hostname, release, type } from 'node:os';
import { type AsyncResources, watchAsyncResources } from './async-resources.js';
import { type GarbageCollectorReport, type GarbageCollectorWatch, watchGarbageCollector } from './garbage-collector.js';
import { threadStacks } from './thread-stacks.js';

/** What a detailed answer says about the process that gives it. */
export interface ServerReport {
  /** Empty where the system does not tell. */
  readonly hostname: string;
  /** UTC, `2026-01-31 12:34:56.789000`. */
  readonly now: string;
  /** Kernel, release and architecture. */
  readonly platform: string;
  /** The versions of Node.js and V8. */
  readonly runtimeVersion: string;
  readonly gc: GarbageCollectorReport;
  /** One entry per pending asynchronous resource. */
  readonly greenthreads: readonly string[];
  /** One stack trace per thread. */
  readonly threads: readonly string[];
}

/** Watches the process until it is stopped. */
export interface ServerWatch {
  /** Any number of callers at the same time share one collection. */
  report(): Promise<ServerReport>;
  stop(): void;
}

interface SharedWatch extends ServerWatch {
  users: number;
}

/** All detailed endpoints of a process read one watch, or one each with and without promises. */
const running = new Map<boolean, SharedWatch>();

/**
 * Installs the hook and the observer that a report needs, unless they are there for another endpoint; nothing of this
 * runs before, nor after the last endpoint stopped its watch.
 */
export function watchServer(withPromises: boolean): ServerWatch {
  const shared = running.get(withPromises) ?? startWatch(withPromises);
  running.set(withPromises, shared);
  shared.users++;
  let stopped = false;
  return {
    report: shared.report,
    stop() {
      if (stopped) return;
      stopped = true;
      if (--shared.users > 0) return;
      running.delete(withPromises);
      shared.stop();
    },
  };
}

function startWatch(withPromises: boolean): SharedWatch {
  const collector: GarbageCollectorWatch = watchGarbageCollector();
  const resources: AsyncResources = watchAsyncResources(withPromises);
  let collecting: Promise<ServerReport> | undefined;

  async function collect(): Promise<ServerReport> {
    const greenthreads = resources.list();
    return {
      hostname: hostname(),
      now: timestamp(new Date()),
      platform: `${type()}-${release()}-${arch()}`,
      runtimeVersion: `Node.js ${process.version} (V8 ${process.versions.v8})`,
      gc: collector.report(),
      greenthreads,
      threads: await threadStacks(),
    };
  }

  return {
    users: 0,
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

/** The platform's clock has milliseconds; the format has six digits. */
function timestamp(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('Z', '000');
}
