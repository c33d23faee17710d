import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { connectSocket } from '../connect-socket.js';
import { QemuError } from '../qemu-error.js';
import type { VolumeContent } from './volume-content.js';

/** The name by which the host that keeps volumes knows a server of another one: while it moves there are two of them. */
export function farUser(serverId: string, host: string): string {
  return `${serverId}@${host}`;
}

async function isUsed(content: VolumeContent, host: string): Promise<boolean> {
  return (await content.users()).some((user) => user.endsWith(farUser('', host)));
}

/** Connections of other hosts to the content of volumes, for as long as servers there use it. */
export class WaysToContent {
  /** By content and host. */
  readonly #open = new Map<string, Set<Socket>>();

  /** @throws `NOT_POSSIBLE` where no server of that host uses it */
  async connect(content: VolumeContent, host: string): Promise<Socket> {
    const socket = await connectSocket(content.file('socket'));
    const key = farUser(basename(content.path), host);
    const open = this.#open.get(key) ?? new Set();
    this.#open.set(key, open.add(socket));
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) this.#open.delete(key);
    });
    // Looked at last: whoever takes it from the host now closes this way, too.
    if (await isUsed(content, host)) return socket;
    socket.destroy();
    throw new QemuError('NOT_POSSIBLE', `no server of ${host} uses the volume`);
  }

  /** A server has no use for content any more: where it was the last one of its host, ways there are closed. */
  async left(content: VolumeContent, user: string): Promise<void> {
    const host = user.slice(user.indexOf('@') + 1);
    if (await isUsed(content, host)) return;
    for (const socket of this.#open.get(farUser(basename(content.path), host)) ?? []) socket.destroy();
  }
}
