import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Counts of garbage collections since the observation started, and heap sizes. */
export interface GarbageCollectorReport {
  /** The counts of minor collections, of major collections, and of incremental steps and weak callbacks together. */
  readonly counts: readonly [number, number, number];
  /** Heap sizes in bytes: the limit, the part that is still available, and the part allocated from the operating system. */
  readonly threshold: readonly [number, number, number];
}

export interface GarbageCollectorWatch {
  report(): GarbageCollectorReport;
  stop(): void;
}

/** A `gc` performance entry. Node's type definitions do not include its `detail`. */
type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

const COUNT_INDEXES: Readonly<Record<number, 0 | 1 | 2>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 0,
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 1,
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 2,
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 2,
};

/** Starts a performance observer that counts garbage collections. */
export function watchGarbageCollector(): GarbageCollectorWatch {
  const counts: [number, number, number] = [0, 0, 0];
  const countCollections = (entries: readonly PerformanceEntry[]) => {
    for (const entry of entries) counts[COUNT_INDEXES[(entry as GcEntry).detail.kind] ?? 2]++;
  };
  const observer = new PerformanceObserver((list) => countCollections(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });

  return {
    report() {
      countCollections(observer.takeRecords());
      const heap = getHeapStatistics();
      return {
        counts: [...counts],
        threshold: [heap.heap_size_limit, heap.total_available_size, heap.total_heap_size],
      };
    },
    stop: () => observer.disconnect(),
  };
}
