import { CompiledQuery, type Kysely } from 'kysely';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Heap Fetches'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** What a question costs PostgreSQL, in counts that do not depend on how fast it is. */
export interface PlanCost {
  /** Tables that are read from their start to their end. */
  readonly scans: readonly string[];
  /** Rows that are looked at, by whatever way. */
  readonly rows: number;
  /** Of these, rows that are read from the table; those that an index alone shows are not. */
  readonly read: number;
  /** Pages of 8 KiB. */
  readonly pages: number;
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const lookedAt = (node: PlanNode) =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

/** Asks a question of PostgreSQL, and what it has cost. */
export async function planCost(db: Kysely<any>, { sql, parameters }: CompiledQuery): Promise<PlanCost> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    CompiledQuery.raw(`explain (analyze, buffers, format json) ${sql}`, [...parameters]),
  );
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const nodes = nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
  const looks = nodes.filter((node) => node['Relation Name']);
  // What an index brings to be compared with another one is looked at too, though no row of it may be read.
  const bitmaps = nodes.filter((node) => node['Node Type'] === 'Bitmap Index Scan');
  const sumOf = (of: (node: PlanNode) => number, some = looks) => some.reduce((sum, node) => sum + of(node), 0);
  return {
    scans: looks.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']!),
    rows: Math.max(sumOf(lookedAt), sumOf(lookedAt, bitmaps)),
    read: sumOf((node) => node['Heap Fetches'] ?? lookedAt(node)),
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}

/** What several questions cost together. */
export async function planCosts(db: Kysely<any>, queries: readonly CompiledQuery[]): Promise<PlanCost> {
  const costs: PlanCost[] = [];
  for (const query of queries) costs.push(await planCost(db, query));
  const sumOf = (of: 'rows' | 'read' | 'pages') => costs.reduce((sum, cost) => sum + cost[of], 0);
  return {
    scans: costs.flatMap(({ scans }) => scans),
    rows: sumOf('rows'),
    read: sumOf('read'),
    pages: sumOf('pages'),
  };
}
