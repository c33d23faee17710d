import type { Call } from '../service/call.js';
import { conflict, notFound } from '../service/service-error.js';

export interface Inventory {
  readonly total: number;
  readonly reserved: number;
  readonly min_unit: number;
  readonly max_unit: number;
  readonly step_size: number;
  readonly allocation_ratio: number;
}

/** What something can be had from: a host, or whatever somebody has told of. */
export interface Provider {
  readonly uuid: string;
  readonly name: string;
  readonly parent: string | null;
  /** One more with every change: who changes something says which one it has seen. */
  readonly generation: number;
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: readonly string[];
  readonly aggregates: readonly string[];
  /** The compute host that it is. */
  readonly host?: string;
}

export const MOST = 2 ** 31 - 1;

const table = ({ cloud }: Call) => cloud.documents.table<Provider>('placement/providers');

function inventory(total: number, allocation_ratio: number): Inventory {
  return { total, reserved: 0, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio };
}

/** All providers by id; the hosts of compute are there from the start. */
export async function providers(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const { hosts } = await call.cloud.engine.hosts.map();
  for (const { node } of hosts.values()) {
    if (table(call).has(node.id)) continue;
    table(call).set(node.id, {
      uuid: node.id,
      name: node.hypervisorHostname,
      parent: null,
      generation: 0,
      inventories: {
        VCPU: inventory(node.vcpus, node.cpuAllocationRatio),
        MEMORY_MB: inventory(node.memoryMb, node.ramAllocationRatio),
        DISK_GB: inventory(node.localGb, node.diskAllocationRatio),
      },
      traits: ['COMPUTE_NODE'],
      aggregates: [],
      host: node.host,
    });
  }
  return table(call);
}

export async function provider(call: Call, id = call.param('id')): Promise<Provider> {
  const provider = (await providers(call)).get(id);
  if (!provider) throw notFound(`No resource provider with uuid ${id} found`);
  return provider;
}

/** Writes a provider as changed once more; throws when the client has not seen how it is now. */
export function write(call: Call, before: Provider, change: Partial<Provider>, seen?: number): Provider {
  if (seen !== undefined && seen !== before.generation)
    throw conflict(
      `Unable to update: resource provider generation conflict: expected ${seen}, it is ${before.generation}.`,
      'placement.concurrent_update',
    );
  const changed = { ...before, ...change, generation: before.generation + 1 };
  table(call).set(changed.uuid, changed);
  return changed;
}

export function put(call: Call, provider: Provider): void {
  table(call).set(provider.uuid, provider);
}

export function drop(call: Call, { uuid }: Provider): void {
  table(call).delete(uuid);
}

/** The top of the tree that a provider is in. */
export function rootOf(all: ReadonlyMap<string, Provider>, { uuid, parent }: Provider): string {
  const above = parent === null ? undefined : all.get(parent);
  return above ? rootOf(all, above) : uuid;
}
