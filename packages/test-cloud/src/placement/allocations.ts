import type { Server } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { badRequest, conflict } from '../service/service-error.js';
import { type Provider, provider, providers, write } from './providers.js';

type Resources = Readonly<Record<string, number>>;

/** What a consumer has of each provider. */
export interface Consumer {
  readonly id: string;
  readonly project: string;
  readonly user: string;
  readonly type: string;
  readonly generation: number;
  readonly allocations: Readonly<Record<string, Resources>>;
}

const table = ({ cloud }: Call) => cloud.documents.table<Consumer>('placement/consumers');
const MOST_SERVERS = 1000;

/** The claims of a server as allocations from the hosts they are on. */
function consumerOf(server: Server, byHost: ReadonlyMap<string, Provider>): Consumer {
  const allocations: Record<string, Resources> = {};
  for (const { host, vcpus, memoryMb, diskGb } of server.claims) {
    const from = byHost.get(host);
    if (!from) continue;
    const had = allocations[from.uuid] ?? {};
    const sum = { VCPU: vcpus, MEMORY_MB: memoryMb, DISK_GB: diskGb };
    const merged = Object.entries(sum).map(([name, amount]) => [name, (had[name] ?? 0) + amount] as const);
    allocations[from.uuid] = Object.fromEntries(merged.filter(([, amount]) => amount > 0));
  }
  const { id, projectId: project, userId: user } = server;
  return { id, project, user, type: 'INSTANCE', generation: 1, allocations };
}

async function hostsOf(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const all = [...(await providers(call)).values()];
  return new Map(all.flatMap((one) => (one.host === undefined ? [] : [[one.host, one] as const])));
}

const contextOf = ({ caller }: Call) => ({ caller, requestId: 'placement', isAdmin: true });

/** The servers of compute that hold something, as consumers: of one host, of one project, or all, page by page. */
async function servers(call: Call, filters: { host?: string; projectId?: string }): Promise<readonly Consumer[]> {
  const byHost = await hostsOf(call);
  const consumers: Consumer[] = [];
  let marker: string | undefined;
  for (;;) {
    const page = await call.cloud.engine.servers.list(contextOf(call), {
      allProjects: true,
      limit: MOST_SERVERS,
      marker,
      filters,
    });
    for (const server of page) if (server.claims.length > 0) consumers.push(consumerOf(server, byHost));
    const last = page.at(-1);
    if (!last || page.length < MOST_SERVERS) return consumers;
    marker = last.id;
  }
}

/** Who has something of a provider. */
export async function consumersOf(call: Call, { uuid, host }: Provider): Promise<readonly Consumer[]> {
  const told = [...table(call).values()].filter(({ allocations }) => allocations[uuid]);
  return host === undefined
    ? told
    : [...(await servers(call, { host })).filter((one) => one.allocations[uuid]), ...told];
}

/** Who has something in the name of a project. */
export async function consumersIn(call: Call, projectId: string): Promise<readonly Consumer[]> {
  const told = [...table(call).values()].filter(({ project }) => project === projectId);
  return [...(await servers(call, { projectId })), ...told];
}

export async function consumer(call: Call, id: string): Promise<Consumer | undefined> {
  const told = table(call).get(id);
  if (told) return told;
  const server = await call.cloud.engine.servers.get(contextOf(call), id).catch(ifMissing);
  return server && server.claims.length > 0 ? consumerOf(server, await hostsOf(call)) : undefined;
}

/** All that is taken, by class. */
export function usagesOf(consumers: readonly Consumer[], uuid?: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { allocations } of consumers)
    for (const [from, resources] of Object.entries(allocations))
      if (uuid === undefined || from === uuid)
        for (const [name, amount] of Object.entries(resources)) sums[name] = (sums[name] ?? 0) + amount;
  return sums;
}

/** How much of a class is left for others. */
export function freeOf({ inventories }: Provider, used: Readonly<Record<string, number>>, name: string): number {
  const inventory = inventories[name];
  return inventory ? (inventory.total - inventory.reserved) * inventory.allocation_ratio - (used[name] ?? 0) : 0;
}

/** Gives a consumer exactly this; throws when a provider has not got it, or the client has not seen what there is. */
export async function allocate(call: Call, requested: Consumer, seen: number | null | undefined): Promise<void> {
  const before = await consumer(call, requested.id);
  if (seen !== undefined && (before?.generation ?? null) !== seen)
    throw conflict(
      `consumer generation conflict - expected ${before?.generation ?? 'null'} but got ${seen}`,
      'placement.concurrent_update',
    );
  for (const [uuid, resources] of Object.entries(requested.allocations)) {
    const from = (await providers(call)).get(uuid);
    if (!from) throw badRequest(`Allocation for resource provider '${uuid}' that does not exist.`);
    const others = (await consumersOf(call, from)).filter(({ id }) => id !== requested.id);
    const used = usagesOf(others, uuid);
    for (const [name, amount] of Object.entries(resources)) {
      const inventory = from.inventories[name];
      if (!inventory)
        throw conflict(`Unable to allocate inventory: Inventory for '${name}' on resource provider '${uuid}' invalid.`);
      const fits = amount >= inventory.min_unit && amount <= inventory.max_unit && amount % inventory.step_size === 0;
      if (!fits || amount > freeOf(from, used, name))
        throw conflict(
          `Unable to allocate inventory: Unable to create allocation for '${name}' on resource provider '${uuid}'. The requested amount would exceed the capacity.`,
        );
    }
  }
  for (const uuid of new Set([...Object.keys(before?.allocations ?? {}), ...Object.keys(requested.allocations)]))
    write(call, await provider(call, uuid), {});
  if (Object.keys(requested.allocations).length === 0) table(call).delete(requested.id);
  else table(call).set(requested.id, { ...requested, generation: (before?.generation ?? 0) + 1 });
}

export function forget(call: Call, id: string): boolean {
  return table(call).delete(id);
}
