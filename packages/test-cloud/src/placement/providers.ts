import type { Call } from '../service/call.js';
import { conflict, notFound } from '../service/service-error.js';
import { changeHostProvider, hostProviders } from './host-offers.js';
import type { Inventory } from './inventory.js';

/** A resource provider: a compute host, or one that a client has created. */
export interface Provider {
  readonly uuid: string;
  readonly name: string;
  readonly parent: string | null;
  /** Increases with each change. Clients that change a provider send the generation that they have read. */
  readonly generation: number;
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: readonly string[];
  readonly aggregates: readonly string[];
  /** The name of the compute host; undefined for providers that clients have created. */
  readonly host?: string;
}

const table = ({ cloud }: Call) => cloud.documents.table<Provider>('placement/providers');

/**
 * Returns all providers, by id. The inventories and traits of compute hosts come from the compute service, and only
 * their other fields from the documents of the placement service.
 */
export async function listProviders(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const hosts = await hostProviders(call);
  const ids = new Set(hosts.map(({ uuid }) => uuid));
  const all = new Map([...table(call)].filter(([id, { host }]) => host === undefined || ids.has(id)));
  for (const offer of hosts) {
    const { parent = null, generation = 0, aggregates = [], name = offer.name } = all.get(offer.uuid) ?? {};
    const allAggregates = [...new Set([...offer.aggregates, ...aggregates])];
    all.set(offer.uuid, { ...offer, name, parent, generation, aggregates: allAggregates });
  }
  return all;
}

/** Returns the error message for an unknown provider. */
export const unknownProviderMessage = (id: string) => `No resource provider with uuid ${id} found`;

/** Returns a provider by id. @throws ServiceError 404, whose message starts with the operation's prefix */
export async function provider(call: Call, id = call.param('id'), prefix = ''): Promise<Provider> {
  const provider = (await listProviders(call)).get(id);
  if (!provider) throw notFound(prefix + unknownProviderMessage(id));
  return provider;
}

/** Returns the provider in the path, for operations whose error for an unknown provider contains the message twice. */
export const providerInPath = (call: Call, separator = ': ') =>
  provider(call, undefined, unknownProviderMessage(call.param('id')) + separator);

/** Throws a 409 error if the client has read an outdated generation of the provider. */
export function rejectOutdated({ generation }: Provider, seenGeneration: number): void {
  if (seenGeneration !== generation)
    throw conflict(
      "Resource provider's generation already changed. Please update the generation and try again.",
      'placement.concurrent_update',
    );
}

/** Throws the 409 error of inventory operations if the client has read an outdated generation of the provider. */
export function rejectConflict({ generation }: Provider, seenGeneration: number): void {
  if (seenGeneration !== generation)
    throw conflict('resource provider generation conflict', 'placement.concurrent_update');
}

/**
 * Stores a changed provider with a higher generation.
 * @param generationIncrement the increase in the generation
 */
export async function writeProvider(
  call: Call,
  before: Provider,
  change: Partial<Pick<Provider, 'inventories' | 'traits' | 'aggregates'>>,
  generationIncrement = 1,
): Promise<Provider> {
  if (before.host !== undefined && (change.inventories || change.traits))
    await changeHostProvider(call, before.host, change);
  await storeProvider(call, { ...before, ...change, generation: before.generation + generationIncrement });
  return provider(call, before.uuid);
}

/**
 * Stores a provider in the document store; for a compute host, only the fields that the compute service does not store.
 */
export async function storeProvider(call: Call, { host, ...changed }: Provider): Promise<void> {
  const offer = host === undefined ? undefined : (await hostProviders(call)).find(({ uuid }) => uuid === changed.uuid);
  const aggregates = changed.aggregates.filter((id) => !offer?.aggregates.includes(id));
  const stored = offer ? { ...changed, host, aggregates, inventories: {}, traits: [] } : changed;
  table(call).set(changed.uuid, stored);
}

export function removeProvider(call: Call, { uuid }: Provider): void {
  table(call).delete(uuid);
}

/** Returns the id of the root provider in a provider's tree. */
export function rootOf(all: ReadonlyMap<string, Provider>, { uuid, parent }: Provider): string {
  const parentProvider = parent === null ? undefined : all.get(parent);
  return parentProvider ? rootOf(all, parentProvider) : uuid;
}
