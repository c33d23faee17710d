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

export interface FarVolumesOptions {
  readonly directory: string;
  readonly hosts: HostLinks;
  /** Makes a file the property of the user that machines run as. */
  readonly give: (path: string) => Promise<void>;
}

/** Volumes whose content another host keeps: a socket here leads to each of them that is in use. */
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
    const { path } = await this.#tunnel(content);
    return {
      id: volumeDeviceId(volumeId),
      serial: volumeId,
      socket: path,
      exportName: EXPORT,
      readOnly: false,
      reconnectSeconds: RECONNECT_SECONDS,
    };
  }

  #tunnel(content: string): Promise<Tunnel> {
    const known = this.#tunnels.get(content) ?? this.#listen(content);
    this.#tunnels.set(content, known);
    known.catch(() => this.#tunnels.delete(content));
    return known;
  }

  async #listen(content: string): Promise<Tunnel> {
    await writeFile(join(this.#folder, content), '');
    const never = new AbortController().signal;
    const { self: host } = this.#options.hosts;
    const far = async () => (await this.#ask({ ask: 'volume', content, host }, never)).stream;
    return openTunnel(join(this.#folder, content + SOCKET), this.#options.give, far);
  }

  async close(serverId: string, volumeId: string): Promise<void> {
    const left = await this.#value<{ content: string; users: readonly string[] } | null>({
      ask: 'close volume',
      userId: this.#nameOf(serverId),
      volumeId,
    });
    if (!left || left.users.some((user) => user.endsWith(this.#nameOf('')))) return;
    await rm(join(this.#folder, left.content), { force: true });
    const tunnel = this.#tunnels.get(left.content);
    this.#tunnels.delete(left.content);
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
