import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { connectSocket } from '../connect-socket.js';
import { QemuError } from '../qemu-error.js';
import type { VolumeContent } from './volume-content.js';

/** The name by which the host that keeps volumes knows a server of another one: while it moves there are two of them. */
export function farUser(serverId: string, host: string): string {
  return `${serverId}@${host}`;
}

function keyOf(content: VolumeContent, user: string): string {
  return `${basename(content.path)} ${user}`;
}

/** Connections of other hosts to the content of volumes, each for a server there, for as long as that uses it. */
export class WaysToContent {
  /** By content and user. */
  readonly #open = new Map<string, Set<Socket>>();

  /** @throws `NOT_POSSIBLE` where that server does not use it */
  async connect(content: VolumeContent, user: string): Promise<Socket> {
    const socket = await connectSocket(content.file('socket'));
    const key = keyOf(content, user);
    const open = this.#open.get(key) ?? new Set();
    this.#open.set(key, open.add(socket));
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) this.#open.delete(key);
    });
    // Looked at last: whoever takes it from the server now closes this way, too.
    if ((await content.users()).includes(user)) return socket;
    socket.destroy();
    throw new QemuError('NOT_POSSIBLE', `${user} does not use the volume`);
  }

  /** A server has no use for content any more: its ways there are closed, whoever else of its host has some. */
  left(content: VolumeContent, user: string): void {
    for (const socket of this.#open.get(keyOf(content, user)) ?? []) socket.destroy();
  }
}
