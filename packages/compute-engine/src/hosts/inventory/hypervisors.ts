import { yieldToEventLoop } from '@apistrata/record-store';
import { DatabaseUnavailable } from '@apistrata/record-store/errors';
import type { Core } from '../../core/core.js';
import { groupBy } from '../../core/group-by.js';
import { badRequest, notFound, notSupported } from '../../errors/rejection.js';
import { usageByHost } from '../../scheduler/claims.js';
import type { HostUsage } from '../../scheduler/host-usage.js';
import type { Host } from '../../scheduler/infrastructure.js';
import { LIVE_SERVERS, tables } from '../../schema/tables.js';

/** A server in a hypervisor's list of servers. */
export interface HostedServer {
  readonly id: string;
  readonly seq: number;
}

/** A compute node with its service and its allocated capacity. Memory is in MiB, disk in GiB. */
export interface Hypervisor {
  readonly host: Host;
  readonly up: boolean;
  readonly usage: HostUsage;
  /** Number of servers with a task in progress. */
  readonly workload: number;
  /** The servers on the hypervisor; undefined if they were not requested. */
  readonly servers: readonly HostedServer[] | undefined;
  /** Output of the command `uptime`; null if it is unknown or was not requested, or the host is down. */
  readonly uptime: string | null;
}

/** The optional hypervisor fields that a request selects. */
export interface HypervisorParts {
  readonly servers?: boolean;
  readonly uptime?: boolean;
}

/** Filters, page and optional fields of a list of hypervisors. */
export interface HypervisorQuery extends HypervisorParts {
  /** The page size. Default: all hypervisors. */
  readonly limit?: number;
  /** The last item of the previous page: its id in the request, and a predicate that finds it. */
  readonly marker?: { readonly id: string; readonly is: (host: Host) => boolean };
  /** A substring of the hypervisor's host name. */
  readonly pattern?: string;
}

/** The maximum number of servers that are read without yielding to the event loop, unless one host has more. */
const MAX_SLICE_SERVERS = 1000;

const NO_USAGE: HostUsage = { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0 };

/** Lists hypervisors, and reads their allocated capacity, servers and uptime. */
export class Hypervisors {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Lists hypervisors, oldest first. Throws a 400 error for an unknown marker, and 404 for a pattern without matches.
   */
  async list(query: HypervisorQuery = {}): Promise<readonly Hypervisor[]> {
    const { pattern, marker, limit } = query;
    const allHosts = [...(await this.#core.infrastructure.current()).hosts.values()];
    const matchingHosts =
      pattern === undefined ? allHosts : allHosts.filter(({ node }) => node.hypervisorHostname.includes(pattern));
    if (pattern !== undefined && matchingHosts.length === 0)
      throw notFound(`No hypervisor matching '${pattern}' could be found.`);
    const position = marker ? matchingHosts.findIndex(marker.is) : -1;
    if (marker && position < 0) throw badRequest(`marker [${marker.id}] not found`);
    const page = matchingHosts.slice(position + 1, limit === undefined ? undefined : position + 1 + limit);
    return Promise.all(page.map(await this.#createDescriber(page, query)));
  }

  /** Returns the first hypervisor for which `matches` returns true. Throws a 404 error with the id if none matches. */
  async get(id: string, matches: (host: Host) => boolean, parts: HypervisorParts = {}): Promise<Hypervisor> {
    return this.#describe(await this.#find(id, matches), parts);
  }

  /**
   * Returns a hypervisor with its uptime. Throws a 400 error if the host is down, and 501 if the driver does not report
   * it.
   */
  async uptime(id: string, matches: (host: Host) => boolean): Promise<Hypervisor & { readonly uptime: string }> {
    const host = await this.#find(id, matches);
    if (!this.#core.infrastructure.isUp(host.service))
      throw badRequest(`Compute service of ${host.name} is unavailable at this time.`);
    const uptime = await this.#core.machines.hostUptime(host.name);
    if (uptime === null) throw notSupported('Virt driver does not implement uptime function.');
    return { ...(await this.#describe(host, {})), uptime };
  }

  async #find(id: string, matches: (host: Host) => boolean): Promise<Host> {
    const host = [...(await this.#core.infrastructure.current()).hosts.values()].find(matches);
    if (!host) throw notFound(`Compute host ${id} could not be found.`);
    return host;
  }

  async #describe(host: Host, parts: HypervisorParts): Promise<Hypervisor> {
    return (await this.#createDescriber([host], parts))(host);
  }

  /** Reads the database once for all `hosts`, and returns a function that describes one of them. */
  async #createDescriber(hosts: readonly Host[], parts: HypervisorParts): Promise<(host: Host) => Promise<Hypervisor>> {
    const { store, infrastructure } = this.#core;
    const usage = await usageByHost(store);
    const workloads = await this.#workloads();
    const servers = parts.servers ? await this.#servers(hosts, usage) : undefined;
    return async (host) => {
      const up = infrastructure.isUp(host.service);
      return {
        host,
        up,
        usage: usage.get(host.name) ?? NO_USAGE,
        workload: workloads.get(host.name) ?? 0,
        servers: servers && (servers.get(host.name) ?? []),
        uptime: parts.uptime && up ? await this.#readUptime(host.name) : null,
      };
    };
  }

  /**
   * Returns the uptime of a host, or null if the host cannot report it. Rejects only if the database is unavailable, so
   * that one host cannot make the whole list fail.
   */
  async #readUptime(host: string): Promise<string | null> {
    try {
      return await this.#core.machines.hostUptime(host);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      return null;
    }
  }

  /**
   * Counts the servers with a task on each host. Reads only these servers, whereas a grouped query would use the index
   * by host and read all servers.
   */
  async #workloads(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#core.store.db
      .selectFrom('servers')
      .select('host')
      .where(LIVE_SERVERS)
      .where('task_state', '>', '')
      .execute();
    return new Map([...groupBy(rows, ({ host }) => host)].map(([host, busyServers]) => [host, busyServers.length]));
  }

  async #servers(
    hosts: readonly Host[],
    usage: ReadonlyMap<string, HostUsage>,
  ): Promise<ReadonlyMap<string, readonly HostedServer[]>> {
    const servers = new Map<string, readonly HostedServer[]>();
    for (const names of sliceHosts(hosts, usage)) {
      if (servers.size > 0) await yieldToEventLoop();
      const rows = await this.#core.store.db
        .selectFrom(tables.servers.name)
        .select(['id', 'seq', 'host'])
        .where('host', 'in', names)
        .where(LIVE_SERVERS)
        .orderBy('seq')
        .execute();
      const hostedServers = rows.map(({ id, seq, host }) => ({ id, seq: Number(seq), host }));
      for (const [host, ownServers] of groupBy(hostedServers, ({ host }) => host)) servers.set(host, ownServers);
    }
    return servers;
  }
}

/**
 * Divides host names into slices with few servers each, so that reading a slice does not block other requests for long.
 */
function sliceHosts(hosts: readonly Host[], usage: ReadonlyMap<string, HostUsage>): readonly (readonly string[])[] {
  const slices: string[][] = [];
  let servers = MAX_SLICE_SERVERS;
  for (const { name } of hosts) {
    const ownServers = usage.get(name)?.servers ?? 0;
    if (servers + ownServers > MAX_SLICE_SERVERS) {
      slices.push([]);
      servers = 0;
    }
    servers += ownServers;
    slices.at(-1)?.push(name);
  }
  return slices;
}
