import { sql } from 'kysely';
import type { Claim, FlavorCopy, Node } from '../model/index.js';
import type { Session, Tx } from '../store/database.js';
import { gathered } from '../store/gathered.js';
import { hotStatement } from '../store/hot-statement.js';
import { settled } from '../store/settled.js';

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

/**
 * Takes capacity of a host; false when there is not enough. The check and the taking are one statement, so two
 * schedulers can never take the same capacity. Works that take some of the same host at the same time take it at once, or
 * else one after the other, as far as there is enough.
 */
export async function claim(tx: Tx, node: Node, amounts: Amounts): Promise<boolean> {
  const take = (taken: Amounts) => takeOf(tx, node, taken, 1);
  return gathered(tx, `claim ${node.host}`, amounts, take, async (all) => {
    if (await takeOf(tx, node, all.reduce(sumOf), all.length)) return all.map(() => true);
    const taken: boolean[] = [];
    for (const each of all) taken.push(await take(each));
    return taken;
  });
}

function sumOf(one: Amounts, other: Amounts): Amounts {
  return {
    vcpus: one.vcpus + other.vcpus,
    memoryMb: one.memoryMb + other.memoryMb,
    diskGb: one.diskGb + other.diskGb,
  };
}

async function takeOf(tx: Tx, node: Node, { vcpus, memoryMb, diskGb }: Amounts, servers: number): Promise<boolean> {
  const { numAffectedRows } = await takeCapacity(tx, [
    vcpus,
    memoryMb,
    diskGb,
    servers,
    node.host,
    Math.floor(node.vcpus * node.cpuAllocationRatio) - vcpus,
    Math.floor(node.memoryMb * node.ramAllocationRatio) - memoryMb,
    Math.floor(node.localGb * node.diskAllocationRatio) - diskGb,
  ]);
  return numAffectedRows === 1n;
}

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
