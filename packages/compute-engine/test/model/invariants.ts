import { expect } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { Server } from '../../src/model/index.js';
import { serverUsage } from '../../src/resources/quotas/server-quota.js';
import { usageByHost } from '../../src/scheduler/claims.js';
import { ownClaim } from '../../src/scheduler/server-claims.js';
import { tables } from '../../src/schema/tables.js';
import { statusOf } from '../../src/servers/status.js';

/** Everything that was done to a server, for the message of a failed test. */
async function storyOf(engine: Engine, server: Server): Promise<string> {
  const actions = await tables.actions.find(coreOf(engine).store, (q) =>
    q.where('server_id', '=', server.id).orderBy('seq'),
  );
  const lines = actions.map(({ action, events }) =>
    [action, ...events.map(({ name, result, host }) => `${name} ${result} on ${host}`)].join('\n    '),
  );
  return [`${server.id} is ${server.vmState} on ${server.host} with ${JSON.stringify(server.claims)}`, ...lines].join(
    '\n  ',
  );
}

/** States that a server may rest in. */
const RESTING = new Set([
  'active',
  'paused',
  'suspended',
  'stopped',
  'rescued',
  'resized',
  'soft-delete',
  'error',
  'shelved',
  'shelved_offloaded',
  'deleted',
]);

/** Once nothing is under way, no server is in the middle of anything. */
async function nothingStuck(engine: Engine, servers: readonly Server[]): Promise<void> {
  expect(await coreOf(engine).worker.pending()).toBe(0);
  for (const server of servers) {
    const { id, vmState, taskState, jobId, deleted } = server;
    expect({ id, taskState, jobId }).toEqual({ id, taskState: null, jobId: null });
    expect(RESTING, `${id} rests in ${vmState}`).toContain(vmState);
    expect(deleted).toBe(vmState === 'deleted');
    expect(statusOf(server)).not.toBe('UNKNOWN');
  }
}

/** What is taken of hosts is what servers say they have, to the last unit. */
async function capacityIsExact(engine: Engine, servers: readonly Server[]): Promise<void> {
  const sums = new Map<string, Record<string, number>>();
  for (const claim of servers.flatMap(({ claims }) => claims)) {
    const sum = sums.get(claim.host) ?? { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0 };
    sum.vcpus! += claim.vcpus;
    sum.memoryMb! += claim.memoryMb;
    sum.diskGb! += claim.diskGb;
    sum.servers! += 1;
    sums.set(claim.host, sum);
  }
  for (const [host, used] of await usageByHost(coreOf(engine).store))
    expect({ host, ...used }).toEqual({
      host,
      ...(sums.get(host) ?? { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0 }),
    });
}

/** A server has what it runs on, twice while it waits for a verdict, and nothing without a host. */
async function claimsFit(engine: Engine, servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    const { host, vmState, claims } = server;
    const wanted = vmState === 'deleted' || host === null ? 0 : vmState === 'resized' ? 2 : 1;
    expect(claims.length, await storyOf(engine, server)).toBe(wanted);
    if (wanted > 0) expect(ownClaim(server)).toMatchObject({ host, vcpus: server.flavor.vcpus });
  }
}

async function quotasAreExact(engine: Engine, servers: readonly Server[]): Promise<void> {
  for (const projectId of new Set(servers.map((server) => server.projectId))) {
    const live = servers.filter((s) => s.projectId === projectId && !s.deleted && s.vmState !== 'soft-delete');
    expect(await serverUsage(coreOf(engine).store, projectId)).toEqual({
      instances: live.length,
      cores: live.reduce((sum, { flavor }) => sum + flavor.vcpus, 0),
      ram: live.reduce((sum, { flavor }) => sum + flavor.memoryMb, 0),
    });
  }
}

/** Exactly the servers that wait for a verdict have a move that is finished; no other move is open. */
async function migrationsHaveEnded(engine: Engine, servers: readonly Server[]): Promise<void> {
  const migrations = await tables.migrations.find(coreOf(engine).store);
  const ended = new Set(['confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done', 'finished']);
  for (const { id, type, status } of migrations) expect(ended, `${type} ${id} is ${status}`).toContain(status);
  const waiting = migrations.filter(({ status }) => status === 'finished').map(({ serverId }) => serverId);
  const resized = servers.filter(({ vmState }) => vmState === 'resized').map(({ id }) => id);
  expect(waiting.sort()).toEqual(resized.sort());
}

/** Ports sit where their server is; those of deleted servers are gone. Images have their content. */
async function catalogsAgree(engine: Engine, servers: readonly Server[]): Promise<void> {
  const admin = { userId: 'admin', projectId: 'admin', roles: ['admin'], isAdmin: true };
  const ports = await engine.catalogs.networks.listPorts(admin, { deviceIds: servers.map(({ id }) => id) });
  const byServer = new Map(servers.map((server) => [server.id, server]));
  for (const port of ports) {
    const server = byServer.get(port.deviceId)!;
    expect(server.deleted, `port of deleted server ${server.id}`).toBe(false);
    expect(port.hostId, await storyOf(engine, server)).toBe(server.host ?? '');
  }
  for (const image of await engine.catalogs.images.list(admin)) expect(image.status).toBe('active');
}

/** Everything that must hold once the worker is idle. */
export async function checkInvariants(engine: Engine): Promise<void> {
  const servers = await tables.servers.find(coreOf(engine).store);
  await nothingStuck(engine, servers);
  await capacityIsExact(engine, servers);
  await claimsFit(engine, servers);
  await quotasAreExact(engine, servers);
  await migrationsHaveEnded(engine, servers);
  await catalogsAgree(engine, servers);
}
