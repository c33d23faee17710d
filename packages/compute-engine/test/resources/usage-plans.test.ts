import { CompiledQuery, sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { coreOf } from '../../src/engine/engine-core.js';
import { populateServers } from '../../src/testing/populate-servers.js';
import { engineUnderTest } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const SERVERS = 6000;
const PROJECTS = 20;
const PAGE = 50;
const HOUR_MS = 3_600_000;

/** Nodes of a PostgreSQL plan, from the outside in. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe.each(storesUnderTest(inject('postgresUrl')))(
  'usage after many deleted servers on $kind',
  ({ kind, database }) => {
    it('is found by indexes alone, and only the servers of the page are read', async () => {
      const engine = await engineUnderTest({ database: await database() });
      try {
        const { store } = coreOf(engine);
        const { db } = store;
        const owners = Array.from({ length: PROJECTS }, (_, n) => ({ projectId: `p${n}`, userId: 'u' }));
        await populateServers(engine, { count: SERVERS, owners });
        const begin = Date.now() - HOUR_MS;
        // Most servers were launched at the same time, and ended later, one after another.
        await sql`update servers set launched_at = ${begin - HOUR_MS}, terminated_at = ${begin} + seq where seq % 30 > 0`.execute(
          db,
        );
        await sql.raw(kind === 'SQLite' ? 'analyze' : 'vacuum analyze servers').execute(db);
        const requested: CompiledQuery[] = [];
        const executor = db.getExecutor();
        const execute = executor.executeQuery.bind(executor);
        executor.executeQuery = (query, ...rest) => {
          requested.push(query);
          return execute(query, ...rest);
        };
        const window = { startUs: begin * 1000, endUs: Date.now() * 1000 };
        const [usage] = await engine.usage.report({ projectId: 'p7', window, limit: PAGE });
        expect(usage?.servers).toHaveLength(PAGE);
        const ids = usage!.servers.map(({ server }) => server.id);
        expect(ids).toEqual(ids.toSorted());
        const next = await engine.usage.report({ projectId: 'p7', window, limit: PAGE, marker: ids.at(-1)! });
        expect(next[0]!.servers[0]!.server.id > ids.at(-1)!).toBe(true);
        const { sql: text, parameters } = requested.find((query) => query.sql.includes('purged'))!;
        if (kind === 'SQLite') {
          const { rows } = await execute<{ detail: string }>(
            CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
          );
          const plan = rows.map(({ detail }) => detail).join('\n');
          expect(plan).toContain('USING COVERING INDEX servers_ended_in');
          expect(plan).toContain('USING COVERING INDEX server_usage_ended_in');
          expect(plan).not.toMatch(/SCAN (servers|server_usage)/);
        } else {
          const { rows } = await execute<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
            CompiledQuery.raw(`explain (format json) ${text}`, [...parameters]),
          );
          const nodes = nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
          const ended = nodes.filter((node) => node['Index Name'] === 'servers_ended_in');
          expect(ended.map((node) => node['Node Type'])).toEqual(['Index Only Scan']);
        }
      } finally {
        await engine.close();
      }
    });
  },
);
