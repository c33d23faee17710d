import type { Engine } from '@apistrata/compute-engine';
import type { EngineObserver } from '@apistrata/compute-engine/observation';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { BoundedLabel } from './bounded-label.js';
import { databaseMetrics, WAIT_SECONDS_BUCKETS } from './database-metrics.js';

const MS_PER_SECOND = 1000;

/**
 * How to aggregate values that all processes with the same database report identically. A sum would count each value
 * several times.
 */
const SHARED_VALUE_AGGREGATOR = 'max';

const WORK_SECONDS_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

/**
 * The maximum number of job kinds that have their own label value. Job kinds are API actions, custom actions and
 * cleanups.
 */
const MAX_KIND_LABELS = 200;

/** Creates the engine metrics and the observer that updates them. */
export function createEngineObserver(register: Registry): EngineObserver {
  const registers = [register];
  const readCounter = new Counter({
    name: 'apistrata_reads_total',
    help: 'Read-only requests, by the database that served them (replica or primary); only if there are replicas',
    labelNames: ['database'],
    registers,
  });
  const jobs = new Counter({
    name: 'apistrata_jobs_total',
    help: 'Background job attempts, by kind and outcome (done, failed, superseded, retried, stopped)',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const jobSeconds = new Histogram({
    name: 'apistrata_job_duration_seconds',
    help: 'Duration of background job attempts, by kind',
    labelNames: ['kind'],
    buckets: WORK_SECONDS_BUCKETS,
    registers,
  });
  const jobWait = new Histogram({
    name: 'apistrata_job_wait_seconds',
    help: 'Delay between the due time of a background job and the start of its attempt',
    labelNames: ['kind'],
    buckets: WAIT_SECONDS_BUCKETS,
    registers,
  });
  const stepSeconds = new Histogram({
    name: 'apistrata_driver_step_duration_seconds',
    help: 'Duration of machine operations, by verb and outcome (done, failed, stopped)',
    labelNames: ['verb', 'outcome'],
    buckets: WORK_SECONDS_BUCKETS,
    registers,
  });
  const rejections = new Counter({
    name: 'apistrata_quota_rejections_total',
    help: 'Requests rejected because they exceed a quota of a project or user, by quota kind',
    labelNames: ['kind'],
    registers,
  });
  const expiredEvents = new Counter({
    name: 'apistrata_events_dropped_total',
    help: 'Events that expired before a webhook accepted them, by webhook host',
    labelNames: ['webhook'],
    registers,
  });
  const deadLetters = new Counter({
    name: 'apistrata_events_rejected_total',
    help: 'Events that became dead letters because a webhook did not accept them in any attempt, by webhook host',
    labelNames: ['webhook'],
    registers,
  });
  const kinds = new BoundedLabel(MAX_KIND_LABELS);

  return {
    ...databaseMetrics(register),
    reading: ({ replica }) => readCounter.inc({ database: replica ?? 'primary' }),
    job({ kind: name, outcome, ms, waitedMs }) {
      const kind = kinds.of(name);
      jobs.inc({ kind, outcome });
      jobSeconds.observe({ kind }, ms / MS_PER_SECOND);
      jobWait.observe({ kind }, waitedMs / MS_PER_SECOND);
    },
    step: ({ verb, outcome, ms }) => stepSeconds.observe({ verb, outcome }, ms / MS_PER_SECOND),
    overQuota({ exceeded }) {
      for (const { kind } of exceeded) rejections.inc({ kind });
    },
    eventsDropped: ({ webhook, count }) => expiredEvents.inc({ webhook }, count),
    eventRejected: ({ webhook }) => deadLetters.inc({ webhook }),
  };
}

/**
 * Adds the gauges whose values are read from the engine at each scrape. They are omitted while the database is
 * unavailable.
 */
export function engineGauges(register: Registry, engine: Engine): void {
  const registers = [register];
  const { statistics } = engine;
  new Gauge({
    name: 'apistrata_servers',
    help: 'Servers of all projects, by vm_state; recounted at most every few seconds',
    labelNames: ['state'],
    aggregator: SHARED_VALUE_AGGREGATOR,
    registers,
    async collect() {
      const counts = await statistics.servers().catch(() => ({}));
      this.reset();
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  const replicaGauges = {
    usable: new Gauge({
      name: 'apistrata_replica_usable',
      help: '1 if this process can use a database replica, otherwise 0',
      labelNames: ['replica'],
      registers,
      async collect() {
        const states = await statistics.replicas();
        for (const gauge of Object.values(replicaGauges)) gauge.reset();
        for (const { name: replica, staleMs, failure } of states) {
          replicaGauges.usable.set({ replica }, Number(failure === undefined));
          if (staleMs !== undefined) replicaGauges.lag.set({ replica }, staleMs / MS_PER_SECOND);
        }
      },
    }),
    lag: new Gauge({
      name: 'apistrata_replica_lag_seconds',
      help: "Upper bound of a replica's replication lag; omitted if unknown",
      labelNames: ['replica'],
      registers,
    }),
  };
  const jobGauges = {
    pending: new Gauge({
      name: 'apistrata_jobs_pending',
      help: 'Incomplete background jobs of all processes that share the database',
      aggregator: SHARED_VALUE_AGGREGATOR,
      registers,
      async collect() {
        const jobStatistics = await statistics.jobs().catch(() => undefined);
        for (const gauge of Object.values(jobGauges)) gauge.reset();
        if (!jobStatistics) return void jobGauges.pending.remove();
        jobGauges.pending.set(jobStatistics.pending);
        jobGauges.overdue.set(jobStatistics.overdueMs / MS_PER_SECOND);
      },
    }),
    overdue: new Gauge({
      name: 'apistrata_job_overdue_seconds',
      help: 'Time for which the oldest due background job has been waiting for a worker',
      aggregator: SHARED_VALUE_AGGREGATOR,
      registers,
    }),
  };
}
