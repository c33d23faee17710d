import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DriverVerb } from '../drivers/driver.js';
import { createQueries, type MachineQuery, type MachineQueryName } from '../drivers/machine-queries.js';
import type { MachineJob, Machines } from '../drivers/machines.js';
import { badRequest, conflict } from '../errors/rejection.js';
import { WorkerStopping } from '../jobs/worker.js';
import type { Server } from '../model/index.js';
import type { Host, Infrastructure } from '../scheduler/infrastructure.js';
import { executingHost } from './executing-host.js';
import type { HostRpcClient } from './host-rpc-client.js';
import { type HostCaller, HostUnreachable } from './links/host-caller.js';
import type { LinkRequest } from './links/link-request.js';
import type { MachineCall } from './machine-call.js';

/** Timeout of a host's response while a caller waits for it. */
const RESPONSE_TIMEOUT_MS = 10_000;
/** Interval of attempts to reach a host within that time: its process may be restarting. */
const RETRY_INTERVAL_MS = 250;
/** After these commands, a server is on exactly one host, or deleted. */
const ENDS: ReadonlySet<DriverVerb> = new Set(['live_migration_finish', 'live_migration_abort', 'destroy']);

/** If these commands fail, the server stays on one host. */
const MOVES: ReadonlySet<DriverVerb> = new Set(['live_migration_prepare', 'live_migration_run']);

/** Secret arguments of commands, which are excluded from the digest. */
const SECRET = new Set(['adminPassword', 'files']);

/** Returns the id of a request: the same command of the same job is the same request, in any process. */
function requestId(job: MachineJob | undefined, host: string, call: MachineCall): string {
  if (!job) return randomUUID();
  const what = call.kind === 'perform' ? call.work : call.kind;
  const text = JSON.stringify([host, what], (key, value) => (SECRET.has(key) ? undefined : value));
  return `${job.id}.${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
}

/** Processes of earlier versions do not set the attempt. */
const attemptOfJob = (job: MachineJob | undefined) => job && { id: job.id, attempt: job.attempt ?? 1 };

/** Requests of a job that another process continues are left for that process. */
const forSuccessor = (reason: unknown) => reason instanceof WorkerStopping;

export interface DistributedMachinesParts {
  readonly rpcClient: HostRpcClient;
  readonly caller: Pick<HostCaller, 'request' | 'connect'>;
  readonly infrastructure: Infrastructure;
}

/**
 * Creates machines that may run on host processes: commands of jobs are sent to those through the database, queries over links;
 * all others are executed in this process.
 */
export function distributedMachines(
  local: Machines,
  { rpcClient, caller, infrastructure }: DistributedMachinesParts,
): Machines {
  /** Returns the host with a name if it is a separate process. */
  async function remote(name: string | null): Promise<Host | undefined> {
    if (name === null) return undefined;
    const host = (await infrastructure.hosts()).hosts.get(name);
    return host?.node.process ? host : undefined;
  }

  /** Looks the host up in the cached scheduler state, for results that must be synchronous. */
  const lastProcess = (server: Server | undefined) =>
    server?.host == null ? undefined : infrastructure.lastKnown(server.host)?.node.process;

  /** Sends a query to a host. A query that may be repeated is, because the process of the host may be restarting. */
  async function send(host: string, request: LinkRequest, repeats: boolean, signal: AbortSignal): Promise<unknown> {
    for (;;) {
      try {
        return await caller.request(host, request, signal);
      } catch (error) {
        if (!repeats || !(error instanceof HostUnreachable)) throw error;
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal });
    }
  }

  async function query(
    host: Host,
    call: MachineQueryName,
    row: MachineQuery,
    server: Server | null,
    given: readonly unknown[],
  ): Promise<unknown> {
    const inTime = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    try {
      if (!infrastructure.isUp(host.service)) throw new HostUnreachable(host.name, 'it is down');
      const request: LinkRequest = { kind: 'machine', call, serverId: server?.id ?? null, given };
      return await send(host.name, request, row.idempotent, inTime);
    } catch (error) {
      if (!inTime.aborted && !(error instanceof HostUnreachable)) throw error;
      if (row.fallback !== undefined) return row.fallback;
      throw server
        ? conflict(`Instance ${server.id} cannot be reached: its host is unavailable at this time.`)
        : badRequest(`Compute service of ${host.name} is unavailable at this time.`);
    }
  }

  /** Sends a command of a job, which the next process that executes the job finds again. */
  async function command(
    host: Host,
    server: Server,
    job: MachineJob | undefined,
    call: MachineCall,
    signal: AbortSignal,
  ): Promise<void> {
    const id = requestId(job, host.name, call);
    const request = { id, host: host.name, serverId: server.id, call, job: attemptOfJob(job) };
    await rpcClient.call(request, signal, forSuccessor);
  }

  /** Requests hosts to check for remaining resources of a server. Hosts that are down check when they return. */
  async function cleanUp(server: Server): Promise<void> {
    for (const name of new Set(server.claims.map(({ host }) => host))) {
      if (name === server.host || !(await remote(name))) continue;
      // Hosts also check periodically, so a failure is ignored.
      await rpcClient
        .notify({ id: randomUUID(), host: name, serverId: server.id, call: { kind: 'tidy' } })
        .catch(() => {});
    }
  }

  return {
    ...createQueries((call, row) => async (target: Server & string, ...given: readonly unknown[]) => {
      const server = row.target === 'server' ? target : null;
      const host = await remote(server ? server.host : target);
      return host
        ? query(host, call, row, server, given)
        : (local[call] as (...all: readonly unknown[]) => Promise<unknown>)(target, ...given);
    }),
    async perform(order, signal) {
      const { work, server, origin, job } = order;
      const host = await remote(executingHost(work, server));
      if (!host) return local.perform(order, signal);
      try {
        await command(host, server, job, { kind: 'perform', work, origin, job }, signal);
        if (ENDS.has(work.verb)) await cleanUp(server);
      } catch (error) {
        if (MOVES.has(work.verb) && !forSuccessor(signal.reason)) await cleanUp(server);
        throw error;
      }
    },
    isSynchronous: (order) => !lastProcess(order.server) && local.isSynchronous(order),
    supports(verb, server) {
      const there = lastProcess(server);
      return there ? !there.cannot.includes(verb) : local.supports(verb, server);
    },
    canMove(server) {
      const there = lastProcess(server);
      return there ? there.canMove : local.canMove(server);
    },
    snapshotFormat(server) {
      const there = lastProcess(server);
      return there ? (there.snapshotFormat ?? undefined) : local.snapshotFormat(server);
    },
    async saveSnapshot(order, upload, signal) {
      const { server, imageId, caller, job } = order;
      const host = await remote(server.host);
      if (!host) return local.saveSnapshot(order, upload, signal);
      await command(host, server, job, { kind: 'saveSnapshot', imageId, caller, job }, signal);
    },
    async openConsole(server, type) {
      const host = await remote(server.host);
      if (!host) return local.openConsole(server, type);
      const request: LinkRequest = { kind: 'console', serverId: server.id, type };
      return caller
        .connect(host.name, request, AbortSignal.timeout(RESPONSE_TIMEOUT_MS))
        .catch((error) => Promise.reject(conflict(`The ${type} console cannot be reached: ${error.message}`)));
    },
    async cacheImages(name, imageIds) {
      const host = await remote(name);
      if (!host) return local.cacheImages(name, imageIds);
      await rpcClient.notify({ id: randomUUID(), host: name, serverId: null, call: { kind: 'cacheImages', imageIds } });
    },
  };
}
