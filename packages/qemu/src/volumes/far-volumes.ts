import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostLinks } from '@apistrata/compute-engine/drivers';
import type { VolumeShape } from '../machine/machine-shape.js';
import type { HostQuestion } from '../moves/questions.js';
import { openTunnel, type Tunnel } from '../moves/tunnel.js';
import { QemuError } from '../qemu-error.js';
import { type VolumeAccess, type VolumeUser, volumeDeviceId } from './volume-access.js';
import { EXPORT } from './volume-server.js';
import { farUser } from './ways-to-content.js';

/** A guest waits for its disk, as long as it takes: this program, or that of the other host, may be begun again. */
const RECONNECT_SECONDS = 86_400;
const ASK_MS = 600_000;
const SOCKET = '.s';
/** Between the content and the server in the name of a way. */
const OF = '@';

export interface FarVolumesOptions {
  readonly directory: string;
  readonly hosts: HostLinks;
  /** Makes a file the property of the user that machines run as. */
  readonly give: (path: string) => Promise<void>;
}

/** The name of a socket, which has to be a short one. */
function socketOf(way: string): string {
  return createHash('sha256').update(way).digest('hex').slice(0, 32) + SOCKET;
}

/**
 * Volumes whose content another host keeps: a socket here leads each server to each of them that it uses, so that a volume
 * can be taken from one server, and not from another one.
 */
export class FarVolumes implements VolumeAccess {
  readonly #options: FarVolumesOptions;
  readonly #tunnels = new Map<string, Promise<Tunnel>>();

  constructor(options: FarVolumesOptions) {
    this.#options = options;
  }

  get #folder(): string {
    return join(this.#options.directory, 'far');
  }

  async #ask(question: HostQuestion, signal: AbortSignal) {
    const { hosts } = this.#options;
    const keeper = await hosts.volumeHost();
    if (keeper === null)
      throw new QemuError('NOT_POSSIBLE', 'no host keeps the content of volumes: begin one of them with --volumes');
    return hosts.ask(keeper, { ...question }, signal);
  }

  async #value<T>(question: HostQuestion): Promise<T> {
    const { value, stream } = await this.#ask(question, AbortSignal.timeout(ASK_MS));
    stream.destroy();
    return value as T;
  }

  /** The name by which the other host knows a server of this one. */
  #nameOf(serverId: string): string {
    return farUser(serverId, this.#options.hosts.self);
  }

  async open({ id, userId, projectId }: VolumeUser, volumeId: string): Promise<VolumeShape> {
    const user = { id: this.#nameOf(id), userId, projectId };
    const content = await this.#value<string>({ ask: 'open volume', user, volumeId });
    const { path } = await this.#tunnel(content + OF + id);
    return {
      id: volumeDeviceId(volumeId),
      serial: volumeId,
      socket: path,
      exportName: EXPORT,
      readOnly: false,
      reconnectSeconds: RECONNECT_SECONDS,
    };
  }

  /** @param way the content and the server */
  #tunnel(way: string): Promise<Tunnel> {
    const known = this.#tunnels.get(way) ?? this.#listen(way);
    this.#tunnels.set(way, known);
    known.catch(() => this.#tunnels.delete(way));
    return known;
  }

  async #listen(way: string): Promise<Tunnel> {
    await writeFile(join(this.#folder, way), '');
    const never = new AbortController().signal;
    const [content = '', serverId = ''] = way.split(OF);
    const userId = this.#nameOf(serverId);
    const far = async () => (await this.#ask({ ask: 'volume', content, userId }, never)).stream;
    return openTunnel(join(this.#folder, socketOf(way)), this.#options.give, far);
  }

  async close(serverId: string, volumeId: string): Promise<void> {
    const content = await this.#value<string | null>({
      ask: 'close volume',
      userId: this.#nameOf(serverId),
      volumeId,
    });
    if (content === null) return;
    const way = content + OF + serverId;
    await rm(join(this.#folder, way), { force: true });
    const tunnel = this.#tunnels.get(way);
    this.#tunnels.delete(way);
    await (await tunnel)?.close();
  }

  async takeFrom(host: string, serverId: string, volumeId: string): Promise<void> {
    await this.#value({ ask: 'close volume', userId: farUser(serverId, host), volumeId });
  }

  async giveBackTo(host: string, { id, userId, projectId }: VolumeUser, volumeId: string): Promise<void> {
    await this.#value({ ask: 'open volume', user: { id: farUser(id, host), userId, projectId }, volumeId });
  }

  async recover(): Promise<void> {
    for (const name of await readdir(this.#folder)) if (!name.endsWith(SOCKET)) await this.#tunnel(name);
  }

  async leave(): Promise<void> {
    for (const tunnel of this.#tunnels.values()) await (await tunnel.catch(() => undefined))?.close();
    this.#tunnels.clear();
  }
}
