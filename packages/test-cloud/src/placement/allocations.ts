import type { Server } from '@apistrata/compute-engine';
import { amountsByClass } from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { listProviders, type Provider } from './providers.js';

type Resources = Readonly<Record<string, number>>;
/** The allocated amounts of a provider, by resource class. */
export type UsedAmounts = Resources;

/** A consumer, with its allocations by provider. */
export interface Consumer {
  readonly id: string;
  readonly project: string;
  readonly user: string;
  /** The consumer type; '' in requests of microversions without types. */
  readonly type: string;
  readonly generation: number;
  readonly allocations: Readonly<Record<string, Resources>>;
}

const table = ({ cloud }: Call) => cloud.documents.table<Consumer>('placement/consumers');
const PAGE_SIZE = 1000;

/** Converts a server's claims to allocations on the hosts. */
function toConsumer(server: Server, byHost: ReadonlyMap<string, Provider>): Consumer {
  const allocations: Record<string, Resources> = {};
  for (const claim of server.claims) {
    const provider = byHost.get(claim.host);
    if (!provider) continue;
    const previousAmounts = allocations[provider.uuid] ?? {};
    const mergedAmounts = amountsByClass(claim).map(
      ([name, amount]) => [name, (previousAmounts[name] ?? 0) + amount] as const,
    );
    allocations[provider.uuid] = { ...previousAmounts, ...Object.fromEntries(mergedAmounts) };
  }
  const { id, projectId: project, userId: user } = server;
  return { id, project, user, type: 'INSTANCE', generation: 1, allocations };
}

async function listProvidersByHost(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const all = [...(await listProviders(call)).values()];
  return new Map(all.flatMap((one) => (one.host === undefined ? [] : [[one.host, one] as const])));
}

const adminContextOf = ({ caller }: Call) => ({ caller, requestId: 'placement', isAdmin: true });

/** Returns the compute servers with claims, as consumers. `filters` restricts them to a host or a project. */
async function serverConsumers(
  call: Call,
  filters: { host?: string; projectId?: string },
): Promise<readonly Consumer[]> {
  const byHost = await listProvidersByHost(call);
  const consumers: Consumer[] = [];
  let marker: string | undefined;
  for (;;) {
    const page = await call.cloud.engine.servers.list(adminContextOf(call), {
      allProjects: true,
      limit: PAGE_SIZE,
      marker,
      filters,
    });
    for (const server of page) if (server.claims.length > 0) consumers.push(toConsumer(server, byHost));
    const lastServer = page.at(-1);
    if (!lastServer || page.length < PAGE_SIZE) return consumers;
    marker = lastServer.id;
  }
}

/** Returns the consumers with allocations on a provider. */
export async function consumersOf(call: Call, { uuid, host }: Provider): Promise<readonly Consumer[]> {
  const stored = [...table(call).values()].filter(({ allocations }) => allocations[uuid]);
  return host === undefined
    ? stored
    : [...(await serverConsumers(call, { host })).filter((one) => one.allocations[uuid]), ...stored];
}

/** Returns the consumers that belong to a project. */
export async function consumersIn(call: Call, projectId: string): Promise<readonly Consumer[]> {
  const stored = [...table(call).values()].filter(({ project }) => project === projectId);
  return [...(await serverConsumers(call, { projectId })), ...stored];
}

/** Returns a provider's allocated amounts, by resource class. For servers, the compute service's totals are used. */
export async function usedAmountsOf(call: Call, { uuid, host }: Provider): Promise<UsedAmounts> {
  const used = sumUsages([...table(call).values()], uuid);
  const serverTotals = host === undefined ? {} : await call.cloud.engine.hosts.allocations(host);
  for (const [name, amount] of Object.entries(serverTotals)) used[name] = (used[name] ?? 0) + amount;
  return used;
}

/** Returns a stored consumer, or converts a compute server with claims to one; undefined for unknown ids. */
export async function findConsumer(call: Call, id: string): Promise<Consumer | undefined> {
  const stored = table(call).get(id);
  if (stored) return stored;
  const server = await call.cloud.engine.servers.get(adminContextOf(call), id).catch(ifMissing);
  return server && server.claims.length > 0 ? toConsumer(server, await listProvidersByHost(call)) : undefined;
}

/** Returns the total allocated amounts, by resource class. @param uuid a provider; default: all providers */
export function sumUsages(consumers: readonly Consumer[], uuid?: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { allocations } of consumers)
    for (const [providerId, resources] of Object.entries(allocations))
      if (uuid === undefined || providerId === uuid)
        for (const [name, amount] of Object.entries(resources)) sums[name] = (sums[name] ?? 0) + amount;
  return sums;
}

/** Stores a consumer with the next generation. Deletes a consumer without allocations. */
export function storeConsumer(call: Call, requested: Consumer, before: Consumer | undefined): void {
  if (Object.keys(requested.allocations).length === 0) table(call).delete(requested.id);
  else {
    const type = requested.type || before?.type || 'unknown';
    table(call).set(requested.id, { ...requested, type, generation: (before?.generation ?? 0) + 1 });
  }
}

/** Removes a stored consumer. Returns false if it does not exist. */
export function removeConsumer(call: Call, id: string): boolean {
  return table(call).delete(id);
}
