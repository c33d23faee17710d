import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VolumeContent } from '../src/volumes/volume-content.js';
import { remoteUserId, VolumeTransports } from '../src/volumes/volume-transports.js';

let folder: string;
let content: VolumeContent;
const server = createServer((socket) => socket.resume().on('error', () => {}));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aq-'));
  content = new VolumeContent(join(folder, 'content'), undefined);
  await content.createFolder();
  server.listen(content.file('socket'));
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

it('removes a volume from one server of a host, and keeps it for another server of that host', async () => {
  const transports = new VolumeTransports();
  const [one, two] = [remoteUserId('one', 'h1'), remoteUserId('two', 'h1')];
  for (const user of [one, two]) await content.addUser(user);
  const [first, second] = [await transports.connect(content, one), await transports.connect(content, two)];
  await content.removeUser(one);
  transports.disconnect(content, one);
  await once(first, 'close');
  expect(second.destroyed).toBe(false);
  await expect(transports.connect(content, one)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  (await transports.connect(content, two)).destroy();
  second.destroy();
});
