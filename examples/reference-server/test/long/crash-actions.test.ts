import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, createEngine } from '@apistrata/compute-engine';
import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const VERSION = '2.90';
const folder = mkdtempSync(join(tmpdir(), 'apistrata-crash-actions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const admin: Caller = { userId: 'admin', projectId: 'demo', roles: ['admin'], isAdmin: true };

/** Server actions that each create a job with several steps. */
const actions: readonly ((image: string) => Record<string, unknown>)[] = [
  () => ({ resize: { flavorRef: '2' } }),
  () => ({ confirmResize: null }),
  () => ({ revertResize: null }),
  () => ({ shelve: null }),
  () => ({ unshelve: null }),
  () => ({ 'os-stop': null }),
  () => ({ 'os-start': null }),
  () => ({ reboot: { type: 'HARD' } }),
  () => ({ pause: null }),
  () => ({ unpause: null }),
  (image) => ({ rebuild: { imageRef: image } }),
  () => ({ rescue: {} }),
  () => ({ unrescue: null }),
  () => ({ createImage: { name: 'copy' } }),
  () => ({ migrate: null }),
];

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}

const start = (database: string) =>
  startProgram([
    '--db',
    database,
    '--latency-ms',
    '8',
    '--log-level',
    'error',
    '--quota',
    'instances=-1',
    '--quota',
    'cores=-1',
    '--quota',
    'ram=-1',
  ]);

async function create(program: Program, name: string): Promise<string | undefined> {
  const server = { name, flavorRef: '1', imageRef: IMAGE, networks: 'auto' };
  const created = await sendRequest(program.url, 'POST', '/v2.1/servers', {
    version: VERSION,
    token: 'admin:demo',
    body: { server },
  });
  return created.body.server?.id;
}

/**
 * Sends random actions, deletions and attachments until the program has ended. Returns the number of accepted requests.
 */
async function sendActionsUntilEnd(program: Program, ids: string[], volumes: readonly string[]): Promise<number> {
  let accepted = 0;
  const worker = async () => {
    for (let i = 0; i < 200; i++) {
      const id = pick(ids);
      const random = Math.random();
      const call = async (method: string, path: string, body?: unknown) => {
        const options = { version: VERSION, token: 'admin:demo', body };
        const { status } = await sendRequest(program.url, method, `/v2.1/servers/${id}${path}`, options);
        if (status < 300) accepted++;
      };
      if (random < 0.05) await call('DELETE', '');
      else if (random < 0.2)
        await call('POST', '/os-volume_attachments', { volumeAttachment: { volumeId: pick(volumes) } });
      else if (random < 0.3) await call('DELETE', `/os-volume_attachments/${pick(volumes)}`);
      else if (random < 0.4) await call('POST', '/os-interface', {});
      else await call('POST', '/action', pick(actions)(IMAGE));
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, worker));
  return accepted;
}

it('a server that is killed during many kinds of jobs leaves servers, volumes, ports and hosts consistent', {
  timeout: 180_000,
}, async () => {
  const database = join(folder, 'cloud.db');
  const seeded = await createEngine({ database });
  const volumes: string[] = [];
  for (let i = 0; i < 6; i++) {
    const { id } = await seeded.embedded.volumes.createVolume(admin, {
      key: crypto.randomUUID(),
      sizeGb: 1,
      name: `v${i}`,
    });
    volumes.push(id);
  }
  await seeded.close();

  const ids: string[] = [];
  let accepted = 0;
  for (const [round, afterMs] of [300, 700, 1100].entries()) {
    const program = await start(database);
    const created = await Promise.all(Array.from({ length: 8 }, (_, i) => create(program, `s${round}-${i}`)));
    ids.push(...created.flatMap((id) => id ?? []));
    const working = sendActionsUntilEnd(program, ids, volumes);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await program.end('SIGKILL');
    accepted += await working;
  }
  expect(ids).toHaveLength(24);
  expect(accepted).toBeGreaterThan(20);

  const program = await start(database);
  const list = async () =>
    (
      await sendRequest(program.url, 'GET', '/v2.1/servers/detail?limit=1000', {
        version: VERSION,
        token: 'admin:demo',
      })
    ).body.servers as any[];
  const deadline = Date.now() + 90_000;
  let busy = await list();
  while (Date.now() < deadline && busy.some((s) => s['OS-EXT-STS:task_state'] !== null || s.status === 'BUILD')) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    busy = await list();
  }
  expect(busy.filter((s) => s['OS-EXT-STS:task_state'] !== null || s.status === 'BUILD')).toEqual([]);
  expect(await program.end('SIGTERM')).toBe(0);

  const engine = await createEngine({ database });
  try {
    // Attachments wait while a server is busy, so some jobs complete later.
    await eventually(async () => expect(await coreOf(engine).worker.pending()).toBe(0), { interval: 200 });
    const context = { caller: admin, requestId: 'req-check', isAdmin: true };
    const servers = await engine.servers.list(context, { limit: 1000, allProjects: true });
    expect(servers.length).toBeGreaterThan(0);
    const byId = new Map(servers.map((s) => [s.id, s]));

    for (const id of volumes) {
      const volume = await engine.embedded.volumes.getVolume(admin, id);
      const holding = servers.filter((s) => s.blockDevices.some(({ volumeId }) => volumeId === id));
      const holders = holding.map((s) => s.id);
      const hasHost = holding.some((s) => s.host !== null);
      // An offloaded server reserves the volumes that it had. Volumes that are attached to it later are in use.
      const statuses = holders.length === 0 ? ['available'] : hasHost ? ['in-use'] : ['reserved', 'in-use'];
      const seen = { status: volume.status, by: volume.attachments.map(({ serverId }) => serverId).sort() };
      const reason = JSON.stringify(holding.map(({ vmState, host, fault }) => ({ vmState, host, fault })));
      expect(seen, reason).toEqual({ status: expect.toBeOneOf(statuses), by: holders.sort() });
    }

    const ports = await engine.embedded.networks.listPorts(admin, {});
    const ofServers = ports.filter(({ deviceId }) => deviceId !== '');
    expect(ofServers.filter(({ deviceId }) => !byId.has(deviceId))).toEqual([]);
    for (const server of servers) {
      const own = ofServers.filter(({ deviceId }) => deviceId === server.id).map(({ id }) => id);
      expect(server.interfaces.map(({ portId }) => portId).sort()).toEqual(own.sort());
    }
  } finally {
    await engine.close();
  }
});
