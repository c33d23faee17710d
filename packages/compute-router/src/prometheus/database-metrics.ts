import type { StoreObserver } from '@apistrata/compute-engine/observation';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { BoundedLabel } from './bounded-label.js';

const MS_PER_SECOND = 1000;

const STATEMENT_SECONDS_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
export const WAIT_SECONDS_BUCKETS = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** The maximum number of statement names that have their own label value. A name consists of a verb and a table. */
const MAX_STATEMENT_LABELS = 300;

/** Observer for a process's database connections. */
export type DatabaseObserver = Required<Pick<StoreObserver, 'statement' | 'pool' | 'commit'>>;

/** Creates the metrics for this process's database connections. */
export function databaseMetrics(register: Registry): DatabaseObserver {
  const registers = [register];
  const statementSeconds = new Histogram({
    name: 'apistrata_statement_duration_seconds',
    help: 'Duration of database statements, by verb and table',
    labelNames: ['statement'],
    buckets: STATEMENT_SECONDS_BUCKETS,
    registers,
  });
  const statementRows = new Counter({
    name: 'apistrata_statement_rows_total',
    help: 'Rows that database statements read or changed, by verb and table',
    labelNames: ['statement'],
    registers,
  });
  const statementErrors = new Counter({
    name: 'apistrata_statement_errors_total',
    help: 'Database statements that failed, by verb and table',
    labelNames: ['statement'],
    registers,
  });
  const connections = new Gauge({
    name: 'apistrata_database_connections',
    help: 'Database connections in use (busy), and operations that wait for a connection (waiting)',
    labelNames: ['state'],
    registers,
  });
  const maxConnections = new Gauge({
    name: 'apistrata_database_connections_max',
    help: 'Maximum number of database connections',
    registers,
  });
  const connectionWait = new Histogram({
    name: 'apistrata_database_connection_wait_seconds',
    help: 'Time for which operations waited for a database connection',
    buckets: WAIT_SECONDS_BUCKETS,
    registers,
  });
  const transactionsPerCommit = new Histogram({
    name: 'apistrata_commit_transactions',
    help: 'Number of transactions that shared a commit',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'apistrata_commit_duration_seconds',
    help: 'Time from BEGIN to COMMIT of the transactions that share a commit',
    buckets: STATEMENT_SECONDS_BUCKETS,
    registers,
  });
  const statements = new BoundedLabel(MAX_STATEMENT_LABELS);

  return {
    statement({ name, rows, ms, failed }) {
      const statement = statements.of(name);
      statementSeconds.observe({ statement }, ms / MS_PER_SECOND);
      if (rows > 0) statementRows.inc({ statement }, rows);
      if (failed) statementErrors.inc({ statement });
    },
    pool({ max, busy, waiting, waitedMs }) {
      maxConnections.set(max);
      connections.set({ state: 'busy' }, busy);
      connections.set({ state: 'waiting' }, waiting);
      if (waitedMs !== undefined) connectionWait.observe(waitedMs / MS_PER_SECOND);
    },
    commit({ transactions, ms }) {
      transactionsPerCommit.observe(transactions);
      commitSeconds.observe(ms / MS_PER_SECOND);
    },
  };
}
