import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams } from '@apistrata/compute-engine/drivers';
import type { MachineFolder } from '../machine/machine-folder.js';

export interface Tunnel {
  readonly path: string;
  close(): Promise<void>;
}

/** A socket for QEMU that leads to another host. */
export async function openTunnel(
  folder: MachineFolder,
  name: 'mirror' | 'moving',
  far: () => Promise<Duplex>,
): Promise<Tunnel> {
  const path = folder.file(name);
  const open = new Set<Socket>();
  const server = createServer(async (near) => {
    open.add(near);
    near.once('close', () => open.delete(near)).on('error', () => {});
    try {
      joinStreams(near, await far());
    } catch {
      // QEMU tells that its connection has ended, and that is what becomes of the move.
      near.destroy();
    }
  });
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await folder.give(path);
  return {
    path,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const near of open) near.destroy();
      await closed;
      await rm(path, { force: true });
    },
  };
}
