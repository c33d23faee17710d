import { hotStatement, type Session, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import { CatalogError } from '../../errors/catalog-error.js';
import type { FixedIp } from '../fixed-ip.js';
import { formatIp, parseIp } from '../ip-address.js';
import { groupSubnets } from './allocation-order.js';
import { deriveAddress } from './auto-address.js';
import { networkTables, type SubnetRecord } from './network-tables.js';
import { subnetSlots } from './subnet-slots.js';

/**
 * Advances the subnet's cursor, at which the search for a free address starts, and returns the new cursor. The row
 * stays locked until the transaction ends.
 */
const moveCursor = hotStatement<{ next_slot: number }>(({ db }) =>
  db
    .updateTable('subnets')
    .set(({ eb }) => ({ next_slot: eb('next_slot', '+', 1) }))
    .where('id', '=', '')
    .returning('next_slot'),
);

/** Returns a statement that acquires a shared lock, which prevents a row's deletion until the transaction ends. */
export const sharedLockOn = (table: 'networks' | 'subnets') =>
  hotStatement<{ id: string }>(({ db, kind }) => {
    const row = db.selectFrom(table).select('id').where('id', '=', '');
    return kind === 'postgres' ? row.forKeyShare() : row;
  });
const lockSubnetShared = sharedLockOn('subnets');

const setCursor = hotStatement(({ db }) => db.updateTable('subnets').set({ next_slot: 0 }).where('id', '=', ''));

const insertAllocation = hotStatement(({ db }) =>
  db
    .insertInto('ip_allocations')
    .columns(['subnet_id', 'address', 'slot', 'holder_id'])
    .values({ subnet_id: '', address: '', slot: 0, holder_id: '' })
    .onConflict((conflict) => conflict.doNothing()),
);

const deleteAllocation = hotStatement(({ db }) =>
  db.deleteFrom('ip_allocations').where('subnet_id', '=', '').where('address', '=', ''),
);

async function claimAddress(tx: Tx, subnet: SubnetRecord, address: string, slot: number | null, holderId: string) {
  const { numAffectedRows } = await insertAllocation(tx, [subnet.id, address, slot, holderId]);
  return numAffectedRows === 1n;
}

/** Returns the lowest free slot in the subnet's allocation pools, starting at slot `from`. */
async function findFreeSlot(session: Session, subnet: SubnetRecord, from: number): Promise<number | undefined> {
  const { pools, gateway } = subnetSlots(subnet);
  for (const pool of pools) {
    for (let start = Math.max(pool.from, from); start <= pool.to; ) {
      const slot = await findFirstGap(session, subnet.id, start);
      if (slot > pool.to) break;
      if (slot !== gateway) return slot;
      start = slot + 1;
    }
  }
  return undefined;
}

async function findFirstGap(session: Session, subnetId: string, start: number): Promise<number> {
  const rowAtStart = await session.db
    .selectFrom('ip_allocations')
    .select('slot')
    .where('subnet_id', '=', subnetId)
    .where('slot', '=', start)
    .executeTakeFirst();
  if (!rowAtStart) return start;
  const end = await session.db
    .selectFrom('ip_allocations as a')
    .select('a.slot')
    .where('a.subnet_id', '=', subnetId)
    .where('a.slot', '>=', start)
    .where(
      sql<boolean>`not exists (select 1 from ip_allocations b where b.subnet_id = a.subnet_id and b.slot = a.slot + 1)`,
    )
    .orderBy('a.slot')
    .limit(1)
    .executeTakeFirstOrThrow();
  return end.slot + 1;
}

/**
 * The number of slots by which a process advances the cursor at once. SQLite serializes transactions anyway. In
 * PostgreSQL, each transaction would wait for the commit of the previous one, so most transactions use a slot from a
 * block in memory. It is harmless if a block is lost with its process, or if two transactions try the same slot: a slot
 * is allocated only by a row in `ip_allocations`, and later searches find unused slots.
 */
const SLOTS_PER_BLOCK = { sqlite: 1, postgres: 16 } as const;

interface SlotBlock {
  next: number;
  readonly end: number;
}

/** The blocks of slots that this process tries next, by subnet. */
export class SlotBlocks {
  readonly #blocks = new Map<string, SlotBlock>();

  /**
   * Returns a slot that concurrent transactions are unlikely to try.
   *
   * @throws `SUBNET_NOT_FOUND`
   */
  async next(tx: Tx, subnetId: string): Promise<number> {
    const block = this.#blocks.get(subnetId);
    if (block && block.next < block.end) {
      // Incremented without an intermediate `await`, so that two transactions never use the same slot.
      const slot = block.next++;
      await preventSubnetDeletion(tx, subnetId);
      return slot;
    }
    const size = SLOTS_PER_BLOCK[tx.kind];
    const { rows } = await moveCursor(tx, [size, subnetId]);
    if (!rows[0]) throw subnetNotFound(subnetId);
    const end = rows[0].next_slot;
    if (size > 1) this.#blocks.set(subnetId, { next: end - size + 1, end });
    return end - size;
  }

  /** Discards the rest of the subnet's block, because the search for a free address continues elsewhere. */
  drop(subnetId: string): void {
    this.#blocks.delete(subnetId);
  }
}

function subnetNotFound(id: string): CatalogError {
  return new CatalogError('SUBNET_NOT_FOUND', `Subnet ${id} could not be found.`);
}

async function preventSubnetDeletion(tx: Tx, id: string): Promise<void> {
  const { rows } = await lockSubnetShared(tx, [id]);
  if (rows.length === 0) throw subnetNotFound(id);
}

/** Allocates a free address for the port or floating IP `holderId`. Returns undefined if no address is free. */
async function allocateInSubnet(
  tx: Tx,
  blocks: SlotBlocks,
  subnet: SubnetRecord,
  holderId: string,
  mac: string | undefined,
): Promise<string | undefined> {
  const autoconfigured = deriveAddress(subnet, mac);
  if (autoconfigured !== undefined) {
    await preventSubnetDeletion(tx, subnet.id);
    return (await claimAddress(tx, subnet, autoconfigured, null, holderId)) ? autoconfigured : undefined;
  }
  const cursor = await blocks.next(tx, subnet.id);
  const { pools, gateway, addressOf } = subnetSlots(subnet);
  const isInPool = pools.some(({ from, to }) => cursor >= from && cursor <= to) && cursor !== gateway;
  if (isInPool && (await claimAddress(tx, subnet, addressOf(cursor), cursor, holderId))) return addressOf(cursor);
  // The address is in use or outside the allocation pools. The search for a free address continues after this address,
  // and then from the start of the subnet.
  blocks.drop(subnet.id);
  // Locks the cursor before the search. If a transaction allocated an address first and then locked the cursor, it
  // would deadlock with a transaction that has locked the cursor and waits for the same address.
  await moveCursor(tx, [0, subnet.id]);
  for (const from of [cursor, 0]) {
    for (
      let slot = await findFreeSlot(tx, subnet, from);
      slot !== undefined;
      slot = await findFreeSlot(tx, subnet, slot + 1)
    ) {
      if (!(await claimAddress(tx, subnet, addressOf(slot), slot, holderId))) continue;
      await setCursor(tx, [slot + 1, subnet.id]);
      return addressOf(slot);
    }
  }
  return undefined;
}

export async function hasFreeAddress(session: Session, subnet: SubnetRecord): Promise<boolean> {
  const row = await session.db.selectFrom('subnets').select('next_slot').where('id', '=', subnet.id).executeTakeFirst();
  // The subnet may have been deleted in the meantime.
  if (!row) return false;
  for (const from of [row.next_slot, 0]) if ((await findFreeSlot(session, subnet, from)) !== undefined) return true;
  return false;
}

export async function isAllocated(session: Session, subnetId: string, address: string): Promise<boolean> {
  const row = await session.db
    .selectFrom('ip_allocations')
    .select('holder_id')
    .where('subnet_id', '=', subnetId)
    .where('address', '=', address)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns the subnet that contains an address, the address's slot, and the address in canonical form.
 *
 * @throws `ADDRESS_NOT_IN_SUBNET`
 */
export function subnetOfAddress(
  subnets: readonly SubnetRecord[],
  text: string,
): { readonly subnet: SubnetRecord; readonly slot: number | null; readonly address: string } {
  const address = parseIp(text);
  if (address)
    for (const subnet of subnets) {
      const slot = subnetSlots(subnet).slotOf(address);
      if (slot !== undefined) return { subnet, slot, address: formatIp(address) };
    }
  throw new CatalogError(
    'ADDRESS_NOT_IN_SUBNET',
    `IP address ${text} is not a valid IP for any subnet of the network.`,
  );
}

/**
 * Allocates a specific address.
 *
 * @throws `ADDRESS_NOT_IN_SUBNET`, `ADDRESS_IN_USE`
 */
export async function allocateRequested(
  tx: Tx,
  subnets: readonly SubnetRecord[],
  text: string,
  holderId: string,
): Promise<FixedIp> {
  const { subnet, slot, address } = subnetOfAddress(subnets, text);
  await preventSubnetDeletion(tx, subnet.id);
  if (!(await claimAddress(tx, subnet, address, slot, holderId)))
    throw new CatalogError('ADDRESS_IN_USE', `IP address ${address} is already in use.`);
  return { address, version: subnet.ipVersion, subnetId: subnet.id, floating: [] };
}

/**
 * Allocates one address per IP version of the subnets, and an address in each subnet in which the guest derives its own
 * address.
 * @param mac the MAC address of a guest that may derive addresses; undefined if addresses are never derived
 * @throws `NO_FREE_ADDRESS`
 */
export async function allocatePerVersion(
  tx: Tx,
  blocks: SlotBlocks,
  subnets: readonly SubnetRecord[],
  holderId: string,
  mac?: string,
): Promise<FixedIp[]> {
  const fixedIps: FixedIp[] = [];
  const { v4, v6, derived } = groupSubnets(subnets, (subnet) => deriveAddress(subnet, mac) !== undefined);
  for (const candidates of [v4, v6, ...derived.map((subnet) => [subnet])]) {
    const [firstSubnet] = candidates;
    if (!firstSubnet) continue;
    const fixedIp = await allocateFromSubnets(tx, blocks, candidates, holderId, mac);
    if (!fixedIp)
      throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on network ${firstSubnet.networkId}.`);
    fixedIps.push(fixedIp);
  }
  return fixedIps;
}

/** Allocates an address in the first subnet that has a free address. Returns undefined if no address is free. */
export async function allocateFromSubnets(
  tx: Tx,
  blocks: SlotBlocks,
  subnets: readonly SubnetRecord[],
  holderId: string,
  mac?: string,
): Promise<FixedIp | undefined> {
  for (const subnet of subnets) {
    const address = await allocateInSubnet(tx, blocks, subnet, holderId, mac);
    if (address) return { address, version: subnet.ipVersion, subnetId: subnet.id, floating: [] };
  }
  return undefined;
}

export async function releaseAddresses(
  tx: Tx,
  allocated: readonly { readonly subnetId: string; readonly address: string }[],
): Promise<void> {
  for (const { subnetId, address } of allocated) await deleteAllocation(tx, [subnetId, address]);
}

/** Returns the subnets with these ids, in the same order. Deleted subnets are omitted. */
export async function subnetsById(session: Session, ids: readonly string[]): Promise<SubnetRecord[]> {
  const subnets = [];
  for (const id of ids) {
    const subnet = await networkTables.subnets.get(session, id);
    if (subnet) subnets.push(subnet);
  }
  return subnets;
}
