import { DatabaseUnavailable } from '@apistrata/compute-engine';
import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { operations } from '../../src/operations/index.js';
import { type Api, apiUnderTest } from '../api-under-test.js';
import { freshDatabase } from '../database-failures/fresh-database.js';

/** Makes one statement fail. Delays all other statements, so that the tests detect a missing `await`. */
class FailingStatements {
  #remaining = Number.POSITIVE_INFINITY;
  /** Whether the failure has occurred. */
  failed = false;

  constructor(api: Api) {
    const executor = coreOf(api.engine).store.db.getExecutor() as any;
    // Queries and transactions use executors that this one creates. All of them inherit `executeQuery` from one
    // prototype.
    let prototype = Object.getPrototypeOf(executor);
    while (!Object.hasOwn(prototype, 'executeQuery')) prototype = Object.getPrototypeOf(prototype);
    const original = prototype.executeQuery;
    const failing = this;
    prototype.executeQuery = async function executeQuery(...args: unknown[]) {
      if (--failing.#remaining === 0) {
        failing.failed = true;
        throw new DatabaseUnavailable('unreachable');
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
      return original.apply(this, args);
    };
    this.restore = () => {
      prototype.executeQuery = original;
    };
  }

  readonly restore: () => void;

  /** Makes the n-th of the following statements fail. If `n` is 0, none of them fails. */
  arm(n: number): void {
    this.failed = false;
    this.#remaining = n || Number.POSITIVE_INFINITY;
  }
}

const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'SQLite', open: async () => ':memory:' },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', open: () => freshDatabase(postgresUrl) }] : []),
];

/** Exceeds the number of statements that any look-up executes. */
const MAX_STATEMENTS = 40;

describe.each(databases)('look-ups with failing statements on $kind', ({ open }) => {
  let api: Api;
  let statements: FailingStatements;
  let serverId: string;
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);

  beforeAll(async () => {
    api = await apiUnderTest({
      engine: { database: await open(), worker: { pollMs: 3_600_000 } },
      router: { validateReplies: false },
    });
    serverId = (await api.as('admin:p1').boot()).id;
    statements = new FailingStatements(api);
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    statements.restore();
    process.off('unhandledRejection', note);
    await api.close();
  });

  const lookUps = operations.filter(({ method }) => method === 'GET');
  const unknown = '5f5ee4a4-4a7f-4b7c-8f6f-0d9f9a4a9b0e';

  it('return 503 and leave no unhandled rejection', { timeout: 300_000 }, async () => {
    const wrong: unknown[] = [];
    let failures = 0;
    for (const version of ['2.1', '2.100'])
      for (const { path } of lookUps) {
        const requestPath = path.replace('{server_id}', serverId);
        const address = requestPath.replace(/^(\/servers\/)\{id\}/, `$1${serverId}`).replaceAll(/\{\w+\}/g, unknown);
        for (const query of ['', ...(path === '/os-migrations' && version !== '2.1' ? [`?marker=${unknown}`] : [])])
          for (let n = 1; n <= MAX_STATEMENTS; n++) {
            // On PostgreSQL, the engine caches the state of the hosts. This call invalidates the cache.
            coreOf(api.engine).infrastructure.setReachable('host1', true);
            statements.arm(n);
            const response = await api.as('admin:p1', version).get(address + query);
            const { failed } = statements;
            statements.arm(0);
            if (!failed) break;
            failures++;
            const expected = response.status === 503 && Number(response.headers.get('retry-after')) > 0;
            if (!expected) wrong.push([version, address + query, n, response.status, response.body]);
          }
      }
    expect(wrong).toEqual([]);
    expect(failures).toBeGreaterThan(lookUps.length);
    expect(unhandled).toEqual([]);
  });
});
