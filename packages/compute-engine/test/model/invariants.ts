import { expect } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { Server } from '../../src/model/index.js';
import { readServerUsage } from '../../src/resources/quotas/server-quota.js';
import { usageByHost } from '../../src/scheduler/claims.js';
import { currentClaim } from '../../src/scheduler/server-claims.js';
import { tables } from '../../src/schema/tables.js';
import { statusOf } from '../../src/servers/status.js';

/** Returns the history of a server, for the message of a failed test. */
async function historyOf(engine: Engine, server: Server): Promise<string> {
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

/** States without a task in progress. */
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

/** Checks that no server has a task in progress. */
async function checkNoTasks(engine: Engine, servers: readonly Server[]): Promise<void> {
  expect(await coreOf(engine).worker.pending()).toBe(0);
  for (const server of servers) {
    const { id, vmState, taskState, jobId, deleted } = server;
    expect({ id, taskState, jobId }).toEqual({ id, taskState: null, jobId: null });
    expect(RESTING, `${id} rests in ${vmState}`).toContain(vmState);
    expect(deleted).toBe(vmState === 'deleted');
    expect(statusOf(server)).not.toBe('UNKNOWN');
  }
}

/** Checks that the allocations of hosts equal the claims of servers. */
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
  const usage = await usageByHost(coreOf(engine).store);
  for (const host of new Set([...usage.keys(), ...sums.keys()]))
    expect({ host, ...usage.get(host) }).toEqual({
      host,
      ...(sums.get(host) ?? { vcpus: 0, memoryMb: 0, diskGb: 0, servers: 0 }),
    });
}

/** Checks that each server has one claim. It has two while a move awaits confirmation, and none without a host. */
async function claimsFit(engine: Engine, servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    const { host, vmState, claims } = server;
    const expected = vmState === 'deleted' || host === null ? 0 : vmState === 'resized' ? 2 : 1;
    expect(claims.length, await historyOf(engine, server)).toBe(expected);
    if (expected > 0) expect(currentClaim(server)).toMatchObject({ host, vcpus: server.flavor.vcpus });
  }
}

async function quotasAreExact(engine: Engine, servers: readonly Server[]): Promise<void> {
  for (const projectId of new Set(servers.map((server) => server.projectId))) {
    const live = servers.filter((s) => s.projectId === projectId && !s.deleted && s.vmState !== 'soft-delete');
    expect(await readServerUsage(coreOf(engine).store, projectId)).toEqual({
      instances: live.length,
      cores: live.reduce((sum, { flavor }) => sum + flavor.vcpus, 0),
      ram: live.reduce((sum, { flavor }) => sum + flavor.memoryMb, 0),
    });
  }
}

/**
 * Checks that the servers with a finished move are exactly those that await confirmation, and that no other move is
 * open.
 */
async function migrationsHaveEnded(engine: Engine, servers: readonly Server[]): Promise<void> {
  const migrations = await tables.migrations.find(coreOf(engine).store);
  const ended = new Set(['confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done', 'finished']);
  for (const { id, type, status } of migrations) expect(ended, `${type} ${id} is ${status}`).toContain(status);
  const waiting = migrations.filter(({ status }) => status === 'finished').map(({ serverId }) => serverId);
  const resized = servers.filter(({ vmState }) => vmState === 'resized').map(({ id }) => id);
  expect(waiting.sort()).toEqual(resized.sort());
}

/**
 * Returns the servers whose devices are complete. An interrupted deletion of other servers may have released some of
 * their ports and volumes.
 */
async function withAllDevices(engine: Engine, servers: readonly Server[]): Promise<readonly Server[]> {
  const actions = await tables.actions.find(coreOf(engine).store);
  const ids = new Set(actions.flatMap(({ action, serverId }) => (action === 'delete' ? serverId : [])));
  return servers.filter(({ id, deleted }) => deleted || !ids.has(id));
}

/** Checks that each volume is attached to exactly those servers that list it, and is connected to their hosts. */
async function volumesAgree(engine: Engine, servers: readonly Server[]): Promise<void> {
  const admin = { userId: 'admin', projectId: 'admin', roles: ['admin'], isAdmin: true };
  const complete = await withAllDevices(engine, servers);
  for (const { id, status, attachments } of await engine.embedded.volumes.listVolumes(admin, { allProjects: true })) {
    const owners = servers.filter(({ blockDevices }) => blockDevices.some(({ volumeId }) => volumeId === id));
    const history = (await Promise.all(owners.map((server) => historyOf(engine, server)))).join('\n');
    const holders = owners.filter((server) => !server.deleted);
    if (!owners.every((server) => complete.includes(server))) continue;
    expect(attachments.map(({ serverId }) => serverId).sort(), history).toEqual(holders.map((s) => s.id).sort());
    const isOffloaded = holders.some(({ host }) => host === null);
    const heldStatuses = isOffloaded ? ['reserved', 'in-use'] : ['in-use'];
    expect(holders.length === 0 ? ['available'] : heldStatuses, history).toContain(status);
    for (const { serverId, host } of attachments)
      if (!isOffloaded) expect(host, history).toBe(holders.find((one) => one.id === serverId)!.host);
  }
}

/**
 * Checks that each port is bound to its server's host and listed in the server record, that ports of deleted servers
 * are deleted, and that images have their content.
 */
async function catalogsAgree(engine: Engine, servers: readonly Server[]): Promise<void> {
  const admin = { userId: 'admin', projectId: 'admin', roles: ['admin'], isAdmin: true };
  const ports = await engine.catalogs.networks.listPorts(admin, { deviceIds: servers.map(({ id }) => id) });
  const byServer = new Map(servers.map((server) => [server.id, server]));
  for (const port of ports) {
    const server = byServer.get(port.deviceId)!;
    expect(server.deleted, `port of deleted server ${server.id}`).toBe(false);
    expect(port.hostId, await historyOf(engine, server)).toBe(server.host ?? '');
  }
  for (const server of await withAllDevices(engine, servers)) {
    const portIds = ports.filter(({ deviceId }) => deviceId === server.id).map(({ id }) => id);
    const recordedIds = server.deleted ? [] : server.interfaces.map(({ portId }) => portId);
    expect(portIds.sort(), await historyOf(engine, server)).toEqual(recordedIds.toSorted());
  }
  for (const image of await engine.catalogs.images.list(admin)) expect(image.status).toBe('active');
}

/** Checks all invariants of an idle engine. */
export async function checkInvariants(engine: Engine): Promise<void> {
  const servers = await tables.servers.find(coreOf(engine).store);
  await checkNoTasks(engine, servers);
  await capacityIsExact(engine, servers);
  await claimsFit(engine, servers);
  await quotasAreExact(engine, servers);
  await migrationsHaveEnded(engine, servers);
  await catalogsAgree(engine, servers);
  await volumesAgree(engine, servers);
}
