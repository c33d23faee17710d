import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { HostLinks } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TransferRequest } from '../src/moves/transfer-request.js';
import { RemoteVolumes } from '../src/volumes/remote-volumes.js';

const CONTENT = '11111111-1111-4111-8111-111111111111';
const VOLUME = '22222222-2222-4222-8222-222222222222';
const [ONE, TWO] = ['33333333-3333-4333-8333-333333333333', '44444444-4444-4444-8444-444444444444'] as const;

let directory: string;
const requested: TransferRequest[] = [];

/** Fake links to other hosts. The host `h1` stores all volumes, and all requests are recorded. */
const hosts = {
  self: 'h2',
  volumeHost: async () => 'h1',
  request: async (_host: string, request: TransferRequest) => {
    requested.push(request);
    return CONTENT;
  },
  connect: async (_host: string, request: TransferRequest) => {
    requested.push(request);
    return new PassThrough();
  },
} as unknown as HostLinks;
const open = () => new RemoteVolumes({ directory, hosts, changeOwner: async () => {} });
const user = (id: string) => ({ id, userId: 'ada', projectId: 'p-ada' });

/** Connects to a server's socket, and returns the request that the connection causes. */
async function requestedName(path: string): Promise<unknown> {
  requested.length = 0;
  const socket = connect(path);
  await once(socket, 'connect');
  await expect.poll(() => requested).toHaveLength(1);
  socket.destroy();
  return requested[0];
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'aq-'));
  mkdirSync(join(directory, 'far'));
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
