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

/** Installs the hook and the observer that a report needs; nothing of this runs before. */
export function watchServer(withPromises: boolean): ServerWatch {
  const collector: GarbageCollectorWatch = watchGarbageCollector();
  const resources: AsyncResources = watchAsyncResources(withPromises);
  let running: Promise<ServerReport> | undefined;

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
    report() {
      running ??= collect().finally(() => {
        running = undefined;
      });
      return running;
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
