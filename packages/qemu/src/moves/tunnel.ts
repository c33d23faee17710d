import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams } from '@apistrata/compute-engine/drivers';

export interface Tunnel {
  readonly path: string;
  close(): Promise<void>;
}

/** A socket for QEMU that leads to another host. @param give makes it the property of the user that machines run as */
export async function openTunnel(
  path: string,
  give: (path: string) => Promise<void>,
  far: () => Promise<Duplex>,
): Promise<Tunnel> {
  const open = new Set<Socket>();
  const server = createServer(async (near) => {
    open.add(near);
    near.once('close', () => open.delete(near)).on('error', () => {});
    try {
      joinStreams(near, await far());
    } catch {
      // QEMU tells that its connection has ended, or tries again.
      near.destroy();
    }
  });
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await give(path);
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
