import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { connectSocket } from '../connect-socket.js';
import { QemuError } from '../qemu-error.js';
import type { VolumeContent } from './volume-content.js';

/** Separates the server and the host in the name of another host's server. */
export const HOST_SEPARATOR = '@';

/** Returns the name of another host's server on the host that stores volumes. It is unique: a moving server exists twice. */
export function remoteUser(serverId: string, host: string): string {
  return serverId + HOST_SEPARATOR + host;
}

function keyOf(content: VolumeContent, user: string): string {
  return `${basename(content.path)} ${user}`;
}

/** The connections of other hosts to the content of volumes, each for one server, as long as it uses the content. */
export class VolumeTransports {
  /** Open connections by content and user. */
  readonly #open = new Map<string, Set<Socket>>();

  /** Connects a server to content. @throws QemuError `UNSUPPORTED` if the server does not use the content */
  async connect(content: VolumeContent, user: string): Promise<Socket> {
    const socket = await connectSocket(content.file('socket'));
    const key = keyOf(content, user);
    const open = this.#open.get(key) ?? new Set();
    this.#open.set(key, open.add(socket));
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) this.#open.delete(key);
    });
    // Checked last, so that a concurrent `disconnect` closes this connection, too.
    if ((await content.users()).includes(user)) return socket;
    socket.destroy();
    throw new QemuError('UNSUPPORTED', `${user} does not use the volume`);
  }

  /** Closes the connections of a server that no longer uses content; other servers of its host keep theirs. */
  disconnect(content: VolumeContent, user: string): void {
    for (const socket of this.#open.get(keyOf(content, user)) ?? []) socket.destroy();
  }
}
