import { nextTurn, type Session, type Store } from '@apistrata/record-store';
import { CompiledQuery } from 'kysely';
import { type HostUsage, usageByHost } from './claims.js';
import { claimsByHost } from './claims-by-host.js';

/** A host whose capacity was counted wrong. */
export interface Correction {
  readonly host: string;
  readonly counted: HostUsage;
  /** What servers have claimed, which is what is counted from now on. */
  readonly claimed: HostUsage;
}

/** Servers whose claims are summed up by one statement. */
const TOGETHER = 2_000;

const NOTHING: HostUsage = { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0 };

const KINDS = ['vcpus', 'memoryMb', 'diskGb', 'servers'] as const;

function isSame(one: HostUsage, other: HostUsage): boolean {
  return KINDS.every((kind) => one[kind] === other[kind]);
}

function sumOf(one: HostUsage, other: HostUsage): HostUsage {
  return {
    vcpus: one.vcpus + other.vcpus,
    memoryMb: one.memoryMb + other.memoryMb,
    diskGb: one.diskGb + other.diskGb,
    servers: one.servers + other.servers,
  };
}

interface ClaimedRow {
  readonly host: string;
  readonly vcpus: number | string;
  readonly memory_mb: number | string;
  readonly disk_gb: number | string;
  readonly servers: number | string;
}

/** What servers have claimed of each host. @param which as of {@link claimsByHost} */
async function claimedByHost(session: Session, which?: string): Promise<ReadonlyMap<string, HostUsage>> {
  const statement = CompiledQuery.raw(claimsByHost(session.kind, which));
  const { rows } = await session.db.executeQuery<ClaimedRow>(statement as CompiledQuery<ClaimedRow>);
  return new Map(
    rows.map(({ host, vcpus, memory_mb, disk_gb, servers }) => [
      host,
      { vcpus: Number(vcpus), memoryMb: Number(memory_mb), diskGb: Number(disk_gb), servers: Number(servers) },
    ]),
  );
}

/**
 * Returns hosts that seem to be counted wrong. Servers are read in parts, so that nothing else waits for long; what changes
 * meanwhile may be seen in a wrong place.
 */
async function suspects(store: Store): Promise<readonly string[]> {
  const { last } = (await store.db
    .selectFrom('servers')
    .select(({ fn }) => fn.max('seq').as('last'))
    .executeTakeFirstOrThrow()) as { last: number | null };
  const claimed = new Map<string, HostUsage>();
  for (let after = 0; after < Number(last ?? 0); after += TOGETHER) {
    const part = await claimedByHost(store, `servers.seq > ${after} and servers.seq <= ${after + TOGETHER}`);
    for (const [host, usage] of part) claimed.set(host, sumOf(claimed.get(host) ?? NOTHING, usage));
    await nextTurn();
  }
  const counted = await usageByHost(store);
  return [...counted].filter(([host, usage]) => !isSame(usage, claimed.get(host) ?? NOTHING)).map(([host]) => host);
}

/**
 * Recounts a host while nothing else claims or releases its capacity: every claim and release changes the host's row first,
 * and the record of its server afterwards.
 */
async function correct(store: Store, host: string): Promise<Correction | undefined> {
  return store.transaction(async (tx) => {
    const row = tx.db.selectFrom('nodes').select('host').where('host', '=', host);
    await (tx.kind === 'postgres' ? row.forUpdate() : row).execute();
    const counted = (await usageByHost(tx)).get(host);
    const claimed = (await claimedByHost(tx)).get(host) ?? NOTHING;
    if (!counted || isSame(counted, claimed)) return undefined;
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
    return { host, counted, claimed };
  });
}

/** Compares what is counted of hosts with what servers have claimed, and corrects what differs. */
export async function recountHosts(store: Store): Promise<readonly Correction[]> {
  const first = await suspects(store);
  if (first.length === 0) return [];
  const again = new Set(await suspects(store));
  const corrections: Correction[] = [];
  for (const host of first.filter((name) => again.has(name))) {
    const correction = await correct(store, host);
    if (correction) corrections.push(correction);
  }
  return corrections;
}

/** Says what was wrong. */
export function correctionText({ host, counted, claimed }: Correction): string {
  const differences = KINDS.filter((kind) => counted[kind] !== claimed[kind]);
  const texts = differences.map((kind) => `${kind} ${counted[kind]} instead of ${claimed[kind]}`);
  return `The capacity of host ${host} was counted wrong, and is corrected: ${texts.join(', ')}.`;
}
