import type { Server } from '@apistrata/compute-engine';
import { byClass } from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { type Provider, providers } from './providers.js';

type Resources = Readonly<Record<string, number>>;
/** Allocated amounts by class. */
export type Used = Resources;

/** A consumer with its allocations by provider. */
export interface Consumer {
  readonly id: string;
  readonly project: string;
  readonly user: string;
  readonly type: string;
  readonly generation: number;
  readonly allocations: Readonly<Record<string, Resources>>;
}

const table = ({ cloud }: Call) => cloud.documents.table<Consumer>('placement/consumers');
const MAX_SERVERS = 1000;

/** Converts the claims of a server to allocations of its hosts. */
function consumerOf(server: Server, byHost: ReadonlyMap<string, Provider>): Consumer {
  const allocations: Record<string, Resources> = {};
  for (const claim of server.claims) {
    const from = byHost.get(claim.host);
    if (!from) continue;
    const previous = allocations[from.uuid] ?? {};
    const merged = byClass(claim).map(([name, amount]) => [name, (previous[name] ?? 0) + amount] as const);
    allocations[from.uuid] = { ...previous, ...Object.fromEntries(merged) };
  }
  const { id, projectId: project, userId: user } = server;
  return { id, project, user, type: 'INSTANCE', generation: 1, allocations };
}

async function hostsOf(call: Call): Promise<ReadonlyMap<string, Provider>> {
  const all = [...(await providers(call)).values()];
  return new Map(all.flatMap((one) => (one.host === undefined ? [] : [[one.host, one] as const])));
}

const contextOf = ({ caller }: Call) => ({ caller, requestId: 'placement', isAdmin: true });

/** Returns the compute servers with claims as consumers: of one host, of one project, or all, page by page. */
async function servers(call: Call, filters: { host?: string; projectId?: string }): Promise<readonly Consumer[]> {
  const byHost = await hostsOf(call);
  const consumers: Consumer[] = [];
  let marker: string | undefined;
  for (;;) {
    const page = await call.cloud.engine.servers.list(contextOf(call), {
      allProjects: true,
      limit: MAX_SERVERS,
      marker,
      filters,
    });
    for (const server of page) if (server.claims.length > 0) consumers.push(consumerOf(server, byHost));
    const last = page.at(-1);
    if (!last || page.length < MAX_SERVERS) return consumers;
    marker = last.id;
  }
}

/** Returns the consumers of a provider. */
export async function consumersOf(call: Call, { uuid, host }: Provider): Promise<readonly Consumer[]> {
  const notified = [...table(call).values()].filter(({ allocations }) => allocations[uuid]);
  return host === undefined
    ? notified
    : [...(await servers(call, { host })).filter((one) => one.allocations[uuid]), ...notified];
}

/** Returns the consumers of a project. */
export async function consumersIn(call: Call, projectId: string): Promise<readonly Consumer[]> {
  const reported = [...table(call).values()].filter(({ project }) => project === projectId);
  return [...(await servers(call, { projectId })), ...reported];
}

/** Returns all allocations of a provider by class; those of servers are the ones that compute has counted. */
export async function usedOf(call: Call, { uuid, host }: Provider): Promise<Used> {
  const used = usagesOf([...table(call).values()], uuid);
  const counted = host === undefined ? {} : await call.cloud.engine.hosts.allocations(host);
  for (const [name, amount] of Object.entries(counted)) used[name] = (used[name] ?? 0) + amount;
  return used;
}

export async function consumer(call: Call, id: string): Promise<Consumer | undefined> {
  const notified = table(call).get(id);
  if (notified) return notified;
  const server = await call.cloud.engine.servers.get(contextOf(call), id).catch(ifMissing);
  return server && server.claims.length > 0 ? consumerOf(server, await hostsOf(call)) : undefined;
}

/** Returns the allocated amounts by class. */
export function usagesOf(consumers: readonly Consumer[], uuid?: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { allocations } of consumers)
    for (const [from, resources] of Object.entries(allocations))
      if (uuid === undefined || from === uuid)
        for (const [name, amount] of Object.entries(resources)) sums[name] = (sums[name] ?? 0) + amount;
  return sums;
}

/** Stores a consumer with its next generation, or deletes it if it has no allocations. */
export function store(call: Call, requested: Consumer, before: Consumer | undefined): void {
  if (Object.keys(requested.allocations).length === 0) table(call).delete(requested.id);
  else table(call).set(requested.id, { ...requested, generation: (before?.generation ?? 0) + 1 });
}

export function forget(call: Call, id: string): boolean {
  return table(call).delete(id);
}
