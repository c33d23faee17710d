import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { HostLinks } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TransferRequest } from '../src/moves/transfer-request.js';
import { RemoteVolumes } from '../src/volumes/remote-volumes.js';
import type { VolumeAccess } from '../src/volumes/volume-access.js';

const CONTENT = '11111111-1111-4111-8111-111111111111';
const VOLUME = '22222222-2222-4222-8222-222222222222';
const [ONE, TWO] = ['33333333-3333-4333-8333-333333333333', '44444444-4444-4444-8444-444444444444'] as const;

let directory: string;
const requested: TransferRequest[] = [];

const requestedHosts: string[] = [];
let volumeHost: string | null;

/** Fake links to other hosts, which record all requests. */
const hosts = {
  self: 'h2',
  volumeHost: async () => volumeHost,
  request: async (host: string, request: TransferRequest) => {
    requestedHosts.push(host);
    requested.push(request);
    return CONTENT;
  },
  connect: async (host: string, request: TransferRequest) => {
    requestedHosts.push(host);
    requested.push(request);
    return new PassThrough();
  },
} as unknown as HostLinks;
const open = (local?: VolumeAccess) => new RemoteVolumes({ directory, hosts, local, changeOwner: async () => {} });
const user = (id: string) => ({ id, userId: 'ada', projectId: 'p-ada' });

/** Connects to a server's socket, and returns the request that the connection causes. */
async function requestedName(path: string): Promise<unknown> {
  requested.length = requestedHosts.length = 0;
  const socket = connect(path);
  await once(socket, 'connect');
  await expect.poll(() => requested).toHaveLength(1);
  socket.destroy();
  return requested[0];
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'aq-'));
  mkdirSync(join(directory, 'far'));
  volumeHost = 'h1';
  requested.length = requestedHosts.length = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('connects each server to a volume by a separate export, which lasts until it is detached', async () => {
  const before = open();
  const [first, second] = [await before.open(user(ONE), VOLUME), await before.open(user(TWO), VOLUME)];
  expect(first.socket).not.toBe(second.socket);
  expect(await requestedName(first.socket)).toEqual({ kind: 'volume', content: CONTENT, userId: `${ONE}@h2` });
  expect(await requestedName(second.socket)).toEqual({ kind: 'volume', content: CONTENT, userId: `${TWO}@h2` });
  await before.stop();
  // Machines continue to run, and reconnect to their export at the same path.
  const after = open();
  await after.recover();
  expect(await requestedName(second.socket)).toMatchObject({ userId: `${TWO}@h2` });
  await after.close(ONE, VOLUME);
  expect(existsSync(first.socket)).toBe(false);
  expect(await requestedName(second.socket)).toMatchObject({ userId: `${TWO}@h2` });
  await after.close(TWO, VOLUME);
  expect(readdirSync(join(directory, 'far'))).toEqual([]);
  await after.stop();
});

it('connects to the host that stores the volume, and reconnects to the same host', async () => {
  volumeHost = 'h3';
  const before = open();
  const { socket } = await before.open(user(ONE), VOLUME);
  expect(requestedHosts).toEqual(['h3']);
  await before.stop();
  volumeHost = 'h1';
  const after = open();
  await after.recover();
  await requestedName(socket);
  expect(requestedHosts).toEqual(['h3']);
  await after.stop();
});

it('reconnects as an earlier version did, which did not record the host', async () => {
  writeFileSync(join(directory, 'far', `${CONTENT}@${ONE}`), '');
  const volumes = open();
  await volumes.recover();
  const [name = ''] = readdirSync(join(directory, 'far')).filter((one) => one.endsWith('.s'));
  await requestedName(join(directory, 'far', name));
  expect(requestedHosts).toEqual(['h1']);
  await volumes.stop();
});

it('opens a volume of this host directly, and reports that no host stores volumes', async () => {
  const calls: unknown[] = [];
  const call =
    (name: string) =>
    async (...given: readonly unknown[]) =>
      void calls.push([name, ...given]);
  const names = ['open', 'close', 'detach', 'reattach', 'recover', 'stop'];
  const local = Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as VolumeAccess;
  const volumes = open(local);
  volumeHost = 'h2';
  await volumes.recover();
  await volumes.open(user(ONE), VOLUME);
  await volumes.detach('h3', ONE, VOLUME);
  await volumes.reattach('h3', user(ONE), VOLUME);
  await volumes.close(ONE, VOLUME);
  await volumes.stop();
  expect(calls).toEqual([
    ['recover'],
    ['open', user(ONE), VOLUME],
    ['detach', 'h3', ONE, VOLUME],
    ['reattach', 'h3', user(ONE), VOLUME],
    ['close', ONE, VOLUME],
    ['stop'],
  ]);
  expect(requested).toEqual([]);
  volumeHost = null;
  await expect(volumes.open(user(ONE), VOLUME)).rejects.toThrow('no host stores volumes: start a host with --volumes');
});
