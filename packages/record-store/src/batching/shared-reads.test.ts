import type { CompiledQuery, Driver, QueryResult } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { shareReads } from './shared-reads.js';

let steps: string[] = [];
/** The errors of queries that fail on their first execution, by SQL. */
let failures = new Map<string, Error>();

beforeEach(() => {
  steps = [];
  failures = new Map();
});

async function run(query: CompiledQuery): Promise<QueryResult<never>> {
  const failure = failures.get(query.sql);
  failures.delete(query.sql);
  steps.push(query.sql);
  if (failure) throw failure;
  return { rows: [query.sql as never] };
}

const connection = {
  executeQuery: run,
  streamQuery: () => {
    throw new Error('not used');
  },
  readTogether<T>(start: () => T): T {
    steps.push('begin');
    const started = start();
    steps.push('commit');
    return started;
  },
};

const driver = {
  acquireConnection: async () => connection,
  releaseConnection: async () => void steps.push('release'),
} as unknown as Driver;

const alone = (query: CompiledQuery) => {
  steps.push('alone');
  return run(query) as never;
};

const query = (sql: string, more: object = {}) =>
  ({ sql, parameters: [], query: { kind: 'SelectQueryNode' }, preparedName: sql, ...more }) as unknown as CompiledQuery;

const sharing = (unsharedReadsAfterLoneRead = 0) =>
  shareReads(driver, alone, { traced: false, unsharedReadsAfterLoneRead });

it('executes the queries of one turn of the event loop in one read transaction', async () => {
  const execute = sharing();
  const results = await Promise.all(['a', 'b'].map((sql) => execute(query(sql))));
  expect(results.map(({ rows }) => rows)).toEqual([['a'], ['b']]);
  await expect.poll(() => steps).toEqual(['begin', 'a', 'b', 'commit', 'release']);
});

it('uses no transaction for a query that no other joins, and executes the next ones separately', async () => {
  const execute = sharing(2);
  for (const sql of ['a', 'b', 'c', 'd']) await execute(query(sql));
  const queries = () => steps.filter((step) => step !== 'release');
  expect(queries()).toEqual(['a', 'alone', 'b', 'alone', 'c', 'd']);
});

it.each([
  ['changes', { query: { kind: 'UpdateQueryNode' } }],
  ['rare queries', { preparedName: undefined }],
  ['queries that serve several callers', { isBatched: true }],
])('executes %s on separate connections', async (_what, more) => {
  const execute = sharing();
  await Promise.all([execute(query('a', more)), execute(query('b', more))]);
  expect(steps).toEqual(['alone', 'a', 'alone', 'b']);
});

it('retries a query on a separate connection if it encountered a lock, after the others have ended', async () => {
  failures.set('a', new DatabaseUnavailable('busy'));
  const execute = sharing();
  const results = await Promise.all(['a', 'b'].map((sql) => execute(query(sql))));
  expect(results.map(({ rows }) => rows)).toEqual([['a'], ['b']]);
  expect(steps).toEqual(['begin', 'a', 'b', 'commit', 'release', 'alone', 'a']);
});

it('rejects only the query that failed', async () => {
  failures.set('a', new Error('a is wrong'));
  const execute = sharing();
  const [a, b] = await Promise.allSettled(['a', 'b'].map((sql) => execute(query(sql))));
  expect([a?.status, b?.status]).toEqual(['rejected', 'fulfilled']);
});
