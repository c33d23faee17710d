import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { connectSocket } from '../connect-socket.js';
import { QemuError } from '../qemu-error.js';
import type { VolumeContent } from './volume-content.js';

/** Separates the server id and the host name in the id of a volume user on another host. */
export const HOST_SEPARATOR = '@';

/**
 * Returns the volume user id of a server on another host. The id includes the host's name, because a migrating server
 * is on two hosts at once.
 */
export function remoteUserId(serverId: string, host: string): string {
  return serverId + HOST_SEPARATOR + host;
}

function keyOf(content: VolumeContent, user: string): string {
  return `${basename(content.path)} ${user}`;
}

/**
 * Other hosts' connections to volume content. Each connection serves one server, as long as that server uses the
 * content.
 */
export class VolumeTransports {
  /** Open connections by content and volume user. */
  readonly #openSockets = new Map<string, Set<Socket>>();

  /** Connects a server to a volume's content. @throws QemuError `UNSUPPORTED` if the server does not use it */
  async connect(content: VolumeContent, user: string): Promise<Socket> {
    const socket = await connectSocket(content.file('socket'));
    const key = keyOf(content, user);
    const openSockets = this.#openSockets.get(key) ?? new Set();
    this.#openSockets.set(key, openSockets.add(socket));
    socket.once('close', () => {
      openSockets.delete(socket);
      if (openSockets.size === 0) this.#openSockets.delete(key);
    });
    // This check is last, so that a concurrent `disconnect` also closes the new connection.
    if ((await content.users()).includes(user)) return socket;
    socket.destroy();
    throw new QemuError('UNSUPPORTED', `${user} does not use the volume`);
  }

  /** Closes the connections of a server that no longer uses the content, but not those of other servers on its host. */
  disconnect(content: VolumeContent, user: string): void {
    for (const socket of this.#openSockets.get(keyOf(content, user)) ?? []) socket.destroy();
  }
}
