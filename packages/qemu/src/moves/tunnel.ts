import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams } from '@apistrata/compute-engine/drivers';

export interface Tunnel {
  readonly path: string;
  /** The error that made the last connection to the other host fail. QEMU itself reports only a closed connection. */
  readonly failure: unknown;
  close(): Promise<void>;
}

/**
 * Opens a Unix socket through which QEMU reaches another host.
 *
 * @param changeOwner changes the owner of the socket to the user that runs QEMU
 */
export async function openTunnel(
  path: string,
  changeOwner: (path: string) => Promise<void>,
  connectRemote: () => Promise<Duplex>,
): Promise<Tunnel> {
  const openSockets = new Set<Socket>();
  let failure: unknown;
  const server = createServer(async (localSocket) => {
    openSockets.add(localSocket);
    localSocket.once('close', () => openSockets.delete(localSocket)).on('error', () => {});
    try {
      joinStreams(localSocket, await connectRemote());
    } catch (error) {
      failure = error;
      // QEMU then reports a closed connection, or reconnects.
      localSocket.destroy();
    }
  });
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await changeOwner(path);
  return {
    path,
    get failure() {
      return failure;
    },
    async close() {
      const serverClosed = once(server, 'close');
      server.close();
      for (const localSocket of openSockets) localSocket.destroy();
      await serverClosed;
      await rm(path, { force: true });
    },
  };
}
