import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { HostLinks } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HostQuestion } from '../src/moves/questions.js';
import { FarVolumes } from '../src/volumes/far-volumes.js';

const CONTENT = '11111111-1111-4111-8111-111111111111';
const VOLUME = '22222222-2222-4222-8222-222222222222';
const [ONE, TWO] = ['33333333-3333-4333-8333-333333333333', '44444444-4444-4444-8444-444444444444'] as const;

let directory: string;
const asked: HostQuestion[] = [];

/** A host that has the volume, and says so to everybody. */
const hosts = {
  self: 'h2',
  volumeHost: async () => 'h1',
  ask: async (_host: string, question: HostQuestion) => {
    asked.push(question);
    return { value: CONTENT, stream: new PassThrough() };
  },
} as unknown as HostLinks;
const open = () => new FarVolumes({ directory, hosts, give: async () => {} });
const user = (id: string) => ({ id, userId: 'ada', projectId: 'p-ada' });

/** By which name a server's socket asks for the volume. */
async function asksAs(path: string): Promise<unknown> {
  asked.length = 0;
  const socket = connect(path);
  await once(socket, 'connect');
  await expect.poll(() => asked).toHaveLength(1);
  socket.destroy();
  return asked[0];
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'aq-'));
  mkdirSync(join(directory, 'far'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('leads each server to a volume by a way of its own, which lasts until that lets go of it', async () => {
  const before = open();
  const [first, second] = [await before.open(user(ONE), VOLUME), await before.open(user(TWO), VOLUME)];
  expect(first.socket).not.toBe(second.socket);
  expect(await asksAs(first.socket)).toEqual({ ask: 'volume', content: CONTENT, userId: `${ONE}@h2` });
  expect(await asksAs(second.socket)).toEqual({ ask: 'volume', content: CONTENT, userId: `${TWO}@h2` });
  await before.leave();
  // Machines go on, and find their way where it was.
  const after = open();
  await after.recover();
  expect(await asksAs(second.socket)).toMatchObject({ userId: `${TWO}@h2` });
  await after.close(ONE, VOLUME);
  expect(existsSync(first.socket)).toBe(false);
  expect(await asksAs(second.socket)).toMatchObject({ userId: `${TWO}@h2` });
  await after.close(TWO, VOLUME);
  expect(readdirSync(join(directory, 'far'))).toEqual([]);
  await after.leave();
});
