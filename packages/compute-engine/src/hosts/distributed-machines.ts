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
import { type HostLinkClient, HostUnreachable } from './links/host-link-client.js';
import type { LinkRequest } from './links/link-request.js';
import type { MachineCall } from './machine-call.js';

/** Timeout for a host's response while a caller waits for it. */
const RESPONSE_TIMEOUT_MS = 10_000;
/** Interval between attempts to reach a host, whose process may be restarting. */
const RETRY_INTERVAL_MS = 250;
/** Commands after which a server is on exactly one host, or deleted. */
const FINAL_VERBS: ReadonlySet<DriverVerb> = new Set(['live_migration_finish', 'live_migration_abort', 'destroy']);

/** Commands of a move. If one of them fails, the server remains on its host. */
const MOVE_VERBS: ReadonlySet<DriverVerb> = new Set(['live_migration_prepare', 'live_migration_run']);

/** Secret command arguments, which the digest in request ids excludes. */
const SECRET_ARGUMENTS = new Set(['adminPassword', 'files']);

/** Returns the id of a request. The same command of the same job has the same id in every process. */
function createRequestId(job: MachineJob | undefined, host: string, call: MachineCall): string {
  if (!job) return randomUUID();
  const work = call.kind === 'perform' ? call.work : call.kind;
  const digestInput = JSON.stringify([host, work], (key, value) => (SECRET_ARGUMENTS.has(key) ? undefined : value));
  return `${job.id}.${createHash('sha256').update(digestInput).digest('base64url').slice(0, 16)}`;
}

/** Returns the id and the attempt of a job. Processes of earlier versions do not set the attempt. */
const attemptOfJob = (job: MachineJob | undefined) => job && { id: job.id, attempt: job.attempt ?? 1 };

/** Returns whether the abort reason means that another process will continue the job and its request. */
const isLeftToSuccessor = (reason: unknown) => reason instanceof WorkerStopping;

/** The dependencies of machines that may run in host processes. */
export interface DistributedMachinesParts {
  readonly rpcClient: HostRpcClient;
  readonly linkClient: Pick<HostLinkClient, 'request' | 'connect'>;
  readonly infrastructure: Infrastructure;
}

/**
 * Returns an interface to machines that may run in host processes. Commands of jobs are sent to these processes through
 * the database, and queries over direct connections. Commands and queries for all other machines are executed in this
 * process.
 */
export function distributedMachines(
  localMachines: Machines,
  { rpcClient, linkClient, infrastructure }: DistributedMachinesParts,
): Machines {
  /** Returns the host with the given name if it is a separate process. */
  async function findRemoteHost(name: string | null): Promise<Host | undefined> {
    if (name === null) return undefined;
    const host = (await infrastructure.hosts()).hosts.get(name);
    return host?.node.process ? host : undefined;
  }

  /**
   * Returns the host process of a server from the cached scheduler state, for methods that must return synchronously.
   */
  const lastKnownProcess = (server: Server | undefined) =>
    server?.host == null ? undefined : infrastructure.lastKnownHost(server.host)?.node.process;

  /**
   * Sends a query to a host. Retries an idempotent query while the host cannot be reached, because its process may be
   * restarting.
   */
  async function sendWithRetries(
    host: string,
    request: LinkRequest,
    retries: boolean,
    signal: AbortSignal,
  ): Promise<unknown> {
    for (;;) {
      try {
        return await linkClient.request(host, request, signal);
      } catch (error) {
        if (!retries || !(error instanceof HostUnreachable)) throw error;
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal });
    }
  }

  async function sendQuery(
    host: Host,
    call: MachineQueryName,
    row: MachineQuery,
    server: Server | null,
    queryArguments: readonly unknown[],
  ): Promise<unknown> {
    const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    try {
      if (!infrastructure.isUp(host.service)) throw new HostUnreachable(host.name, 'it is down');
      const request: LinkRequest = { kind: 'machine', call, serverId: server?.id ?? null, given: queryArguments };
      return await sendWithRetries(host.name, request, row.idempotent, timeout);
    } catch (error) {
      if (!timeout.aborted && !(error instanceof HostUnreachable)) throw error;
      if (row.fallback !== undefined) return row.fallback;
      throw server
        ? conflict(`Instance ${server.id} cannot be reached: its host is unavailable at this time.`)
        : badRequest(`Compute service of ${host.name} is unavailable at this time.`);
    }
  }

  /** Sends a command and waits for its result. If another process continues the job, it finds the stored command. */
  async function sendCommand(
    host: Host,
    server: Server,
    job: MachineJob | undefined,
    call: MachineCall,
    signal: AbortSignal,
  ): Promise<void> {
    const id = createRequestId(job, host.name, call);
    const request = { id, host: host.name, serverId: server.id, call, job: attemptOfJob(job) };
    await rpcClient.call(request, signal, isLeftToSuccessor);
  }

  /**
   * Instructs a server's former hosts to remove its remaining resources. Hosts that are down do so at their next start.
   */
  async function cleanUp(server: Server): Promise<void> {
    for (const name of new Set(server.claims.map(({ host }) => host))) {
      if (name === server.host || !(await findRemoteHost(name))) continue;
      // A failure is ignored, because each host also checks periodically for resources of servers that have left it.
      await rpcClient
        .notify({ id: randomUUID(), host: name, serverId: server.id, call: { kind: 'tidy' } })
        .catch(() => {});
    }
  }

  return {
    ...createQueries((call, row) => async (target: Server & string, ...queryArguments: readonly unknown[]) => {
      const server = row.target === 'server' ? target : null;
      const host = await findRemoteHost(server ? server.host : target);
      return host
        ? sendQuery(host, call, row, server, queryArguments)
        : (localMachines[call] as (...all: readonly unknown[]) => Promise<unknown>)(target, ...queryArguments);
    }),
    async perform(request, signal) {
      const { work, server, origin, job } = request;
      const host = await findRemoteHost(executingHost(work, server));
      if (!host) return localMachines.perform(request, signal);
      if (work.verb === 'prepare' && host.node.process?.cannot.includes('prepare')) return;
      try {
        await sendCommand(host, server, job, { kind: 'perform', work, origin, job }, signal);
        if (FINAL_VERBS.has(work.verb)) await cleanUp(server);
      } catch (error) {
        if (MOVE_VERBS.has(work.verb) && !isLeftToSuccessor(signal.reason)) await cleanUp(server);
        throw error;
      }
    },
    isSynchronous: (request) => !lastKnownProcess(request.server) && localMachines.isSynchronous(request),
    supports(verb, server) {
      const hostProcess = lastKnownProcess(server);
      return hostProcess ? !hostProcess.cannot.includes(verb) : localMachines.supports(verb, server);
    },
    canMove(server) {
      const hostProcess = lastKnownProcess(server);
      return hostProcess ? hostProcess.canMove : localMachines.canMove(server);
    },
    snapshotFormat(server) {
      const hostProcess = lastKnownProcess(server);
      return hostProcess ? (hostProcess.snapshotFormat ?? undefined) : localMachines.snapshotFormat(server);
    },
    async saveSnapshot(work, upload, signal) {
      const { server, imageId, caller, job } = work;
      const host = await findRemoteHost(server.host);
      if (!host) return localMachines.saveSnapshot(work, upload, signal);
      await sendCommand(host, server, job, { kind: 'saveSnapshot', imageId, caller, job }, signal);
    },
    async openConsole(server, type) {
      const host = await findRemoteHost(server.host);
      if (!host) return localMachines.openConsole(server, type);
      const request: LinkRequest = { kind: 'console', serverId: server.id, type };
      return linkClient
        .connect(host.name, request, AbortSignal.timeout(RESPONSE_TIMEOUT_MS))
        .catch((error) => Promise.reject(conflict(`The ${type} console cannot be reached: ${error.message}`)));
    },
    async cacheImages(name, imageIds) {
      const host = await findRemoteHost(name);
      if (!host) return localMachines.cacheImages(name, imageIds);
      await rpcClient.notify({ id: randomUUID(), host: name, serverId: null, call: { kind: 'cacheImages', imageIds } });
    },
  };
}
