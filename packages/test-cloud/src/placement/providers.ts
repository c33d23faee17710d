import type { Call } from '../service/call.js';
import { conflict, notFound } from '../service/service-error.js';
import { changeOffer, hostOffers } from './host-offers.js';
import type { Inventory } from './inventory.js';

/** A resource provider: a compute host, or one that a client has created. */
export interface Provider {
  readonly uuid: string;
  readonly name: string;
  readonly parent: string | null;
  /** Incremented with every change. A client that changes a provider sends the generation that it has read. */
  readonly generation: number;
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: readonly string[];
  readonly aggregates: readonly string[];
  /** The compute host of this provider. */
  readonly host?: string;
}

const table = ({ cloud }: Call) => cloud.documents.table<Provider>('placement/providers');

/**
 * Returns all providers, by id. Those of compute hosts are always included: the compute service stores their inventories
 * and traits, and the placement service stores only additional fields.
 */
export async function providers(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const hosts = await hostOffers(call);
  const ids = new Set(hosts.map(({ uuid }) => uuid));
  const all = new Map([...table(call)].filter(([id, { host }]) => host === undefined || ids.has(id)));
  for (const offer of hosts) {
    const { parent = null, generation = 0, aggregates = [], name = offer.name } = all.get(offer.uuid) ?? {};
    const memberships = [...new Set([...offer.aggregates, ...aggregates])];
    all.set(offer.uuid, { ...offer, name, parent, generation, aggregates: memberships });
  }
  return all;
}

export async function provider(call: Call, id = call.param('id')): Promise<Provider> {
  const provider = (await providers(call)).get(id);
  if (!provider) throw notFound(`No resource provider with uuid ${id} found`);
  return provider;
}

/** Throws a 409 error if the client has read an outdated generation of a provider. */
export function rejectOutdated({ generation }: Provider, seen: number): void {
  if (seen !== generation)
    throw conflict(
      "Resource provider's generation already changed. Please update the generation and try again.",
      'placement.concurrent_update',
    );
}

/**
 * Stores a changed provider with its next generation. Throws a 409 error if the client's generation is outdated.
 * @param growth the increase of the generation
 */
export async function write(
  call: Call,
  before: Provider,
  change: Partial<Pick<Provider, 'inventories' | 'traits' | 'aggregates'>>,
  seen?: number,
  growth = 1,
): Promise<Provider> {
  if (seen !== undefined && seen !== before.generation)
    throw conflict('resource provider generation conflict', 'placement.concurrent_update');
  if (before.host !== undefined && (change.inventories || change.traits)) await changeOffer(call, before.host, change);
  await put(call, { ...before, ...change, generation: before.generation + growth });
  return provider(call, before.uuid);
}

/** Stores a provider. For a compute host, stores only the fields that the compute service does not store. */
export async function put(call: Call, { host, ...changed }: Provider): Promise<void> {
  const offer = host === undefined ? undefined : (await hostOffers(call)).find(({ uuid }) => uuid === changed.uuid);
  const aggregates = changed.aggregates.filter((id) => !offer?.aggregates.includes(id));
  const stored = offer ? { ...changed, host, aggregates, inventories: {}, traits: [] } : changed;
  table(call).set(changed.uuid, stored);
}

export function removeProvider(call: Call, { uuid }: Provider): void {
  table(call).delete(uuid);
}

/** Returns the root of a provider's tree. */
export function rootOf(all: ReadonlyMap<string, Provider>, { uuid, parent }: Provider): string {
  const parentProvider = parent === null ? undefined : all.get(parent);
  return parentProvider ? rootOf(all, parentProvider) : uuid;
}
