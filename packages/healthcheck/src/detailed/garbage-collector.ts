import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Statistics of the garbage collector since the observation started, and its limits. */
export interface GarbageCollectorReport {
  /** Numbers of collections: minor; major; incremental steps and weak callbacks together. */
  readonly counts: readonly [number, number, number];
  /** Sizes in bytes: the limit of the heap, its available size, the size allocated from the system. */
  readonly threshold: readonly [number, number, number];
}

export interface GarbageCollectorWatch {
  report(): GarbageCollectorReport;
  stop(): void;
}

/** Node's types do not include the details of a `gc` entry. */
type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

const SLOTS: Readonly<Record<number, 0 | 1 | 2>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 0,
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 1,
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 2,
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 2,
};

/** Starts to count collections with a performance observer. */
export function watchGarbageCollector(): GarbageCollectorWatch {
  const counts: [number, number, number] = [0, 0, 0];
  const count = (entries: readonly PerformanceEntry[]) => {
    for (const entry of entries) counts[SLOTS[(entry as GcEntry).detail.kind] ?? 2]++;
  };
  const observer = new PerformanceObserver((list) => count(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });

  return {
    report() {
      count(observer.takeRecords());
      const heap = getHeapStatistics();
      return {
        counts: [...counts],
        threshold: [heap.heap_size_limit, heap.total_available_size, heap.total_heap_size],
      };
    },
    stop: () => observer.disconnect(),
  };
}
