import { createHash, randomUUID } from 'node:crypto';
import type { DriverVerb } from '../drivers/driver.js';
import type { HostLinks } from '../drivers/host-links.js';
import type { MachineJob, Machines } from '../drivers/machines.js';
import { badRequest, conflict } from '../errors/refusal.js';
import { WorkerStopping } from '../jobs/worker.js';
import type { Server } from '../model/index.js';
import type { Host, Infrastructure } from '../scheduler/infrastructure.js';
import type { HostDesk } from './host-desk.js';
import type { HostQuestion } from './host-question.js';
import type { LinkQuestion } from './links/link-question.js';
import { placeOf } from './place-of.js';

/** How long a host may take to answer a request of somebody who waits for it. */
const ANSWER_MS = 10_000;

/** After these a server is in one place, or in none. */
const ENDS: ReadonlySet<DriverVerb> = new Set(['live_migration_finish', 'live_migration_abort', 'destroy']);

/** Where these fail, the server stays in one place. */
const MOVES: ReadonlySet<DriverVerb> = new Set(['live_migration_prepare', 'live_migration_run']);

/** Parts of work that are secret: not even their digest is for anybody to read. */
const SECRET = new Set(['adminPassword', 'files']);

/** The same work of the same job is the same order, whoever gives it. */
function orderId(job: MachineJob | undefined, host: string, question: HostQuestion): string {
  if (!job) return randomUUID();
  const what = question.kind === 'perform' ? question.work : question.kind;
  const text = JSON.stringify([host, what], (key, value) => (SECRET.has(key) ? undefined : value));
  return `${job.id}.${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
}

/** Which attempt makes a request; processes of versions before do not say it. */
const attemptOfJob = (job: MachineJob | undefined) => job && { id: job.id, attempt: job.attempt ?? 1 };

/** What a job that another process goes on with has ordered is left for that process to find. */
const forSuccessor = (reason: unknown) => reason instanceof WorkerStopping;

export interface MachinesOfHostsParts {
  readonly desk: HostDesk;
  readonly caller: Pick<HostLinks, 'ask'>;
  readonly infrastructure: Infrastructure;
}

/**
 * Machines of which some are those of hosts that are processes of their own: what concerns those is handed over by the
 * database, the rest is done here.
 */
export function machinesOfHosts(local: Machines, { desk, caller, infrastructure }: MachinesOfHostsParts): Machines {
  /** The host of that name if it is a process of its own. */
  async function remote(name: string | null): Promise<Host | undefined> {
    if (name === null) return undefined;
    const host = (await infrastructure.hosts()).hosts.get(name);
    return host?.node.process ? host : undefined;
  }

  /** What the picture of a moment ago says, for answers that cannot wait. */
  const lastProcess = (server: Server | undefined) =>
    server?.host == null ? undefined : infrastructure.lastKnown(server.host)?.node.process;

  /** Asks in the name of a request; undefined when the host does not answer in time. */
  async function request(
    host: Host,
    server: Server | null,
    question: HostQuestion,
  ): Promise<{ value: any } | undefined> {
    if (!infrastructure.isUp(host.service)) return undefined;
    const inTime = AbortSignal.timeout(ANSWER_MS);
    const order = { id: randomUUID(), host: host.name, serverId: server?.id ?? null, question };
    try {
      return { value: await desk.ask({ ...order, expiresAt: Date.now() + ANSWER_MS }, inTime, () => false) };
    } catch (error) {
      if (inTime.aborted) return undefined;
      throw error;
    }
  }

  async function ofServer(host: Host, server: Server, question: HostQuestion): Promise<any> {
    const told = await request(host, server, question);
    if (!told) throw conflict(`Instance ${server.id} cannot be asked: its host is unavailable at this time.`);
    return told.value;
  }

  async function ofHost(host: Host, question: HostQuestion): Promise<any> {
    const told = await request(host, null, question);
    if (!told) throw badRequest(`Compute service of ${host.name} is unavailable at this time.`);
    return told.value;
  }

  /** Has hosts look whether the server has left something there. Whoever is away looks when he comes back. */
  async function tidy(server: Server): Promise<void> {
    for (const name of new Set(server.claims.map(({ host }) => host))) {
      if (name === server.host || !(await remote(name))) continue;
      // Hosts look by themselves too, from time to time.
      await desk
        .tell({ id: randomUUID(), host: name, serverId: server.id, question: { kind: 'tidy' } })
        .catch(() => {});
    }
  }

  return {
    async perform(order, signal) {
      const { work, server, origin, job } = order;
      const host = await remote(placeOf(work, server));
      if (!host) return local.perform(order, signal);
      const question = { kind: 'perform', work, origin, job } as const;
      const id = orderId(job, host.name, question);
      try {
        const request = { id, host: host.name, serverId: server.id, question, job: attemptOfJob(job) };
        await desk.ask(request, signal, forSuccessor);
        if (ENDS.has(work.verb)) await tidy(server);
      } catch (error) {
        if (MOVES.has(work.verb) && !forSuccessor(signal.reason)) await tidy(server);
        throw error;
      }
    },
    isInstant: (order) => !lastProcess(order.server) && local.isInstant(order),
    nothingToDo: (order) => !lastProcess(order.server) && local.nothingToDo(order),
    supports(verb, server) {
      const there = lastProcess(server);
      return there ? !there.cannot.includes(verb) : local.supports(verb, server);
    },
    async obstacle(verb, server) {
      const host = await remote(server.host);
      return host ? ofServer(host, server, { kind: 'obstacle', verb }) : local.obstacle(verb, server);
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
      const question = { kind: 'saveSnapshot', imageId, caller, job } as const;
      const id = orderId(job, host.name, question);
      const request = { id, host: host.name, serverId: server.id, question, job: attemptOfJob(job) };
      await desk.ask(request, signal, forSuccessor);
    },
    async consoleOutput(server) {
      const host = await remote(server.host);
      return host ? ofServer(host, server, { kind: 'consoleOutput' }) : local.consoleOutput(server);
    },
    async diagnostics(server) {
      const host = await remote(server.host);
      return host ? ofServer(host, server, { kind: 'diagnostics' }) : local.diagnostics(server);
    },
    async moveProgress(server) {
      const host = await remote(server.host);
      return host
        ? ((await request(host, server, { kind: 'moveProgress' }))?.value ?? null)
        : local.moveProgress(server);
    },
    async openConsole(server, type) {
      const host = await remote(server.host);
      if (!host) return local.openConsole(server, type);
      const question: LinkQuestion = { kind: 'console', serverId: server.id, type };
      const { stream } = await caller
        .ask(host.name, question, AbortSignal.timeout(ANSWER_MS))
        .catch((error) => Promise.reject(conflict(`The ${type} console cannot be reached: ${error.message}`)));
      return stream;
    },
    async console(server, type) {
      const host = await remote(server.host);
      return host ? ofServer(host, server, { kind: 'console', type }) : local.console(server, type);
    },
    async hostUptime(name) {
      const host = await remote(name);
      return host ? ofHost(host, { kind: 'hostUptime' }) : local.hostUptime(name);
    },
    async hostPower(name, action) {
      const host = await remote(name);
      return host ? ofHost(host, { kind: 'hostPower', action }) : local.hostPower(name, action);
    },
    async hostMaintenance(name, on) {
      const host = await remote(name);
      return host ? ofHost(host, { kind: 'hostMaintenance', on }) : local.hostMaintenance(name, on);
    },
    async cacheImages(name, imageIds) {
      const host = await remote(name);
      if (!host) return local.cacheImages(name, imageIds);
      await desk.tell({ id: randomUUID(), host: name, serverId: null, question: { kind: 'cacheImages', imageIds } });
    },
  };
}
