import {
  byColumn,
  gathered,
  hotStatement,
  preparedQuery,
  type Session,
  settled,
  type Tx,
} from '@apistrata/record-store';
import { CompiledQuery, sql } from 'kysely';
import { groupBy } from '../core/group-by.js';
import type { Claim, FlavorCopy, Node } from '../model/index.js';

/** What is taken of a host. Memory in MiB, disk in GiB. */
export interface HostUsage {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly servers: number;
}

/** What a flavor takes of a host; the local disk only where the server does not boot from a volume. */
export function amountsOf(flavor: FlavorCopy, localRoot: boolean): Amounts {
  const diskGb = (localRoot ? flavor.diskGb : 0) + flavor.ephemeralGb + Math.ceil(flavor.swapMb / 1024);
  return { vcpus: flavor.vcpus, memoryMb: flavor.memoryMb, diskGb };
}

type Amounts = Omit<Claim, 'host'>;

/** What is to be taken of a host. */
interface Wish {
  readonly node: Node;
  readonly amounts: Amounts;
}

/**
 * Takes capacity of a host; false when there is not enough. The check and the taking are one statement, so two
 * schedulers can never take the same capacity. Works that take some at the same time take it by one statement, of each host
 * all that they want, or else one after the other, as far as there is enough.
 */
export async function claim(tx: Tx, node: Node, amounts: Amounts): Promise<boolean> {
  return gathered(
    tx,
    'claim',
    { node, amounts },
    (wish) => takeOne(tx, wish),
    async (wishes) => {
      const enough = await takeMany(tx, wishes);
      const taken: boolean[] = [];
      for (const wish of wishes) taken.push(enough.has(wish.node.host) || (await takeOne(tx, wish)));
      return taken;
    },
  );
}

/** Values of what is taken of a host, and of how much of each may be taken before. */
function taking(node: Node, { vcpus, memoryMb, diskGb }: Amounts, servers: number): readonly (number | string)[] {
  return [
    vcpus,
    memoryMb,
    diskGb,
    servers,
    node.host,
    Math.floor(node.vcpus * node.cpuAllocationRatio) - vcpus,
    Math.floor(node.memoryMb * node.ramAllocationRatio) - memoryMb,
    Math.floor(node.localGb * node.diskAllocationRatio) - diskGb,
  ];
}

async function takeOne(tx: Tx, { node, amounts }: Wish): Promise<boolean> {
  const { numAffectedRows } = await takeCapacity(tx, taking(node, amounts, 1));
  return numAffectedRows === 1n;
}

/** Resolves to the hosts of which there was enough for all; nothing is taken of the others. */
async function takeMany(tx: Tx, wishes: readonly Wish[]): Promise<ReadonlySet<string>> {
  const rows = [...groupBy(wishes, ({ node }) => node.host).values()].map((wanted) => {
    const sum = (pick: (amounts: Amounts) => number) => wanted.reduce((all, { amounts }) => all + pick(amounts), 0);
    const all = { vcpus: sum((a) => a.vcpus), memoryMb: sum((a) => a.memoryMb), diskGb: sum((a) => a.diskGb) };
    return taking((wanted[0] as Wish).node, all, wanted.length);
  });
  const parameters = byColumn(8, rows);
  const taken = await tx.db.executeQuery<{ readonly host: string }>({ ...takeCapacities, parameters } as never);
  return new Set(taken.rows.map(({ host }) => host));
}

/** The same of many hosts; PostgreSQL, where works share transactions. */
const takeCapacities = preparedQuery(
  CompiledQuery.raw(
    `update nodes set vcpus_used = vcpus_used + given.vcpus, memory_mb_used = memory_mb_used + given.memory_mb,
       local_gb_used = local_gb_used + given.local_gb, servers = nodes.servers + given.servers
     from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
       as given(vcpus, memory_mb, local_gb, servers, host, most_vcpus, most_memory_mb, most_local_gb)
     where nodes.host = given.host and vcpus_used <= most_vcpus and memory_mb_used <= most_memory_mb
       and local_gb_used <= most_local_gb
     returning nodes.host`,
  ),
);

const takeCapacity = hotStatement(({ db }) =>
  db
    .updateTable('nodes')
    .set({
      vcpus_used: sql`vcpus_used + ${0}`,
      memory_mb_used: sql`memory_mb_used + ${0}`,
      local_gb_used: sql`local_gb_used + ${0}`,
      servers: sql`servers + ${0}`,
    })
    .where('host', '=', '')
    .where('vcpus_used', '<=', 0)
    .where('memory_mb_used', '<=', 0)
    .where('local_gb_used', '<=', 0),
);

/** Takes capacity whether there is enough or not: for moves that an administrator forces. */
export async function forceClaim(tx: Tx, taken: Claim): Promise<void> {
  await shift(tx, taken, 1);
}

/** Gives capacity back. */
export async function release(tx: Tx, taken: Claim): Promise<void> {
  await shift(tx, taken, -1);
}

async function shift(tx: Tx, { host, vcpus, memoryMb, diskGb }: Claim, sign: 1 | -1): Promise<void> {
  await tx.db
    .updateTable('nodes')
    .set({
      vcpus_used: sql`vcpus_used + ${sign * vcpus}`,
      memory_mb_used: sql`memory_mb_used + ${sign * memoryMb}`,
      local_gb_used: sql`local_gb_used + ${sign * diskGb}`,
      servers: sql`servers + ${sign}`,
    })
    .where('host', '=', host)
    .execute();
}

interface UsageRow {
  readonly host: string;
  readonly vcpus_used: number;
  readonly memory_mb_used: number;
  readonly local_gb_used: number;
  readonly servers: number;
}

const selectUsage = hotStatement<UsageRow>(({ db }) =>
  db.selectFrom('nodes').select(['host', 'vcpus_used', 'memory_mb_used', 'local_gb_used', 'servers']),
);

/** Waits until no other transaction with several works takes capacity: each may take it of many hosts, in any order. */
const queueForClaims = hotStatement(({ db }) =>
  db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended('claims', 0))`.as('taken')),
);

/**
 * What is taken of every host, as far as this transaction has to know. Works that share it have one picture, in which
 * each enters what it is about to take (`enter`), so that they do not all choose the same host.
 */
export async function usageForClaim(tx: Tx): Promise<Map<string, HostUsage>> {
  if (!tx.mates) return usageByHost(tx);
  return tx.mates.once('usage of hosts', async () => {
    const [, usage] = await settled([queueForClaims(tx, []), usageByHost(tx)]);
    return usage;
  });
}

/** Enters into a picture what is taken of a host; with the sign -1, that it was not to be had. */
export function enter(usage: Map<string, HostUsage>, { host, ...amounts }: Claim, sign: 1 | -1 = 1): void {
  const before = usage.get(host);
  if (!before) return;
  usage.set(host, {
    vcpus: before.vcpus + sign * amounts.vcpus,
    memoryMb: before.memoryMb + sign * amounts.memoryMb,
    diskGb: before.diskGb + sign * amounts.diskGb,
    servers: before.servers + sign,
  });
}

/** What is taken of every host. */
export async function usageByHost(session: Session): Promise<Map<string, HostUsage>> {
  const { rows } = await selectUsage(session, []);
  return new Map(
    rows.map((row) => [
      row.host,
      { vcpus: row.vcpus_used, memoryMb: row.memory_mb_used, diskGb: row.local_gb_used, servers: row.servers },
    ]),
  );
}
