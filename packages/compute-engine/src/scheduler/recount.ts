import { type Session, type Store, yieldToEventLoop } from '@apistrata/record-store';
import { CompiledQuery } from 'kysely';
import { claimsByHostSql, resourceClaimsByHostSql } from './claims-by-host.js';
import { type HostCount, readCountsByHost } from './host-counts.js';
import { groupByHost, setResources } from './resource-claims.js';

/** The correction for a host whose allocations were miscounted. */
export interface Correction {
  readonly host: string;
  readonly counted: HostCount;
  /** The sums of the claims of servers, which are the corrected values. */
  readonly claimed: HostCount;
}

/** Number of servers whose claims are summed by one statement. */
const BATCH_SIZE = 2_000;

const NO_CLAIMS: HostCount = { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0, resources: {} };

/** Returns all amounts of a count, by name. */
function amountsByName({ resources, ...own }: HostCount): ReadonlyMap<string, number> {
  return new Map(Object.entries({ ...own, ...resources }));
}

/** Returns the names of the amounts that differ between two counts. */
function differingAmounts(one: HostCount, other: HostCount): readonly string[] {
  const [amounts, otherAmounts] = [amountsByName(one), amountsByName(other)];
  return [...new Set([...amounts.keys(), ...otherAmounts.keys()])].filter(
    (name) => (amounts.get(name) ?? 0) !== (otherAmounts.get(name) ?? 0),
  );
}

function addCounts(one: HostCount, other: HostCount): HostCount {
  const resources: Record<string, number> = { ...one.resources };
  for (const [name, amount] of Object.entries(other.resources)) resources[name] = (resources[name] ?? 0) + amount;
  return {
    vcpus: one.vcpus + other.vcpus,
    memoryMb: one.memoryMb + other.memoryMb,
    diskGb: one.diskGb + other.diskGb,
    servers: one.servers + other.servers,
    resources,
  };
}

interface ClaimedRow {
  readonly host: string;
  readonly vcpus: number | string;
  readonly memory_mb: number | string;
  readonly disk_gb: number | string;
  readonly servers: number | string;
}

async function queryRows<R>({ db }: Session, statement: string): Promise<readonly R[]> {
  return (await db.executeQuery<R>(CompiledQuery.raw(statement) as CompiledQuery<R>)).rows;
}

/**
 * Returns the server claims on each host.
 *
 * @param condition as for {@link claimsByHostSql}
 */
async function readClaimsByHost(session: Session, condition?: string): Promise<ReadonlyMap<string, HostCount>> {
  const rows = await queryRows<ClaimedRow>(session, claimsByHostSql(session.kind, condition));
  const otherResources = groupByHost(await queryRows(session, resourceClaimsByHostSql(session.kind, condition)));
  return new Map(
    rows.map(({ host, vcpus, memory_mb, disk_gb, servers }) => [
      host,
      {
        vcpus: Number(vcpus),
        memoryMb: Number(memory_mb),
        diskGb: Number(disk_gb),
        servers: Number(servers),
        resources: otherResources.get(host) ?? {},
      },
    ]),
  );
}

/**
 * Returns hosts whose usage may be miscounted. Servers are read in batches, so that other work is not blocked;
 * concurrent changes can cause false positives.
 */
async function findMiscountedHosts(store: Store): Promise<readonly string[]> {
  const { last } = (await store.db
    .selectFrom('servers')
    .select(({ fn }) => fn.max('seq').as('last'))
    .executeTakeFirstOrThrow()) as { last: number | null };
  const claimed = new Map<string, HostCount>();
  for (let after = 0; after < Number(last ?? 0); after += BATCH_SIZE) {
    const batchClaims = await readClaimsByHost(
      store,
      `servers.seq > ${after} and servers.seq <= ${after + BATCH_SIZE}`,
    );
    for (const [host, usage] of batchClaims) claimed.set(host, addCounts(claimed.get(host) ?? NO_CLAIMS, usage));
    await yieldToEventLoop();
  }
  const counted = await readCountsByHost(store);
  return [...counted]
    .filter(([host, count]) => differingAmounts(count, claimed.get(host) ?? NO_CLAIMS).length > 0)
    .map(([host]) => host);
}

/**
 * Recounts the allocations of a host while its row is locked. Every claim and release changes that row first, and the
 * server record afterwards.
 */
async function correctHost(store: Store, host: string): Promise<Correction | undefined> {
  return store.transaction(async (tx) => {
    const row = tx.db.selectFrom('nodes').select('host').where('host', '=', host);
    await (tx.kind === 'postgres' ? row.forUpdate() : row).execute();
    const counted = (await readCountsByHost(tx)).get(host);
    const claimed = (await readClaimsByHost(tx)).get(host) ?? NO_CLAIMS;
    if (!counted || differingAmounts(counted, claimed).length === 0) return undefined;
    await tx.db
      .updateTable('nodes')
      .set({
        vcpus_used: claimed.vcpus,
        memory_mb_used: claimed.memoryMb,
        local_gb_used: claimed.diskGb,
        servers: claimed.servers,
      })
      .where('host', '=', host)
      .execute();
    await setResources(tx, host, claimed.resources);
    return { host, counted, claimed };
  });
}

/** Compares each host's counted usage with the claims of its servers, and corrects differences. */
export async function recountHosts(store: Store): Promise<readonly Correction[]> {
  const candidates = await findMiscountedHosts(store);
  if (candidates.length === 0) return [];
  const confirmedHosts = new Set(await findMiscountedHosts(store));
  const corrections: Correction[] = [];
  for (const host of candidates.filter((name) => confirmedHosts.has(name))) {
    const correction = await correctHost(store, host);
    if (correction) corrections.push(correction);
  }
  return corrections;
}

/** Formats a correction as a message. */
export function formatCorrection({ host, counted, claimed }: Correction): string {
  const [before, after] = [amountsByName(counted), amountsByName(claimed)];
  const changes = differingAmounts(counted, claimed).map(
    (name) => `${name} from ${before.get(name) ?? 0} to ${after.get(name) ?? 0}`,
  );
  return `The usage of host ${host} was miscounted and has been corrected: ${changes.join(', ')}.`;
}
