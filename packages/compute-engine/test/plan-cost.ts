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

/** The cost of a PostgreSQL query, in counts that do not depend on timing. */
export interface PlanCost {
  /** Tables that are scanned completely. */
  readonly scans: readonly string[];
  /** Number of rows that are visited in any way. */
  readonly rows: number;
  /** Number of rows that are read from the table, not only from an index. */
  readonly read: number;
  /** Pages of 8 KiB. */
  readonly pages: number;
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const visitedRows = (node: PlanNode) =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

/** Executes a query on PostgreSQL and returns its cost. */
export async function planCost(db: Kysely<any>, { sql, parameters }: CompiledQuery): Promise<PlanCost> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    CompiledQuery.raw(`explain (analyze, buffers, format json) ${sql}`, [...parameters]),
  );
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const nodes = nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
  const scans = nodes.filter((node) => node['Relation Name']);
  // If several indexes are combined, the rows of each index count, even if the table rows are not read.
  const bitmaps = nodes.filter((node) => node['Node Type'] === 'Bitmap Index Scan');
  const sumOf = (of: (node: PlanNode) => number, some = scans) => some.reduce((sum, node) => sum + of(node), 0);
  return {
    scans: scans.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']!),
    rows: Math.max(sumOf(visitedRows), sumOf(visitedRows, bitmaps)),
    read: sumOf((node) => node['Heap Fetches'] ?? visitedRows(node)),
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}

/** Returns the total cost of several queries. */
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
