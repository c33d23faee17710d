import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostLinks } from '@apistrata/compute-engine/drivers';
import type { VolumeShape } from '../machine/machine-shape.js';
import type { TransferRequest } from '../moves/transfer-request.js';
import { openTunnel, type Tunnel } from '../moves/tunnel.js';
import { QemuError } from '../qemu-error.js';
import { type VolumeAccess, type VolumeUser, volumeDeviceId } from './volume-access.js';
import { EXPORT_NAME } from './volume-server.js';
import { remoteUserId } from './volume-transports.js';

/** How long a guest waits for its disk: one day, because the process of either host may be restarted. */
const RECONNECT_SECONDS = 86_400;
const REQUEST_TIMEOUT_MS = 600_000;
const SOCKET_SUFFIX = '.s';
/** Separates the content name and the server id in the name of a connection. */
const CONNECTION_SEPARATOR = '@';

export interface RemoteVolumesOptions {
  readonly directory: string;
  readonly hosts: HostLinks;
  /** Changes the owner of a file to the user that runs QEMU. */
  readonly changeOwner: (path: string) => Promise<void>;
}

/** Returns the file name of a connection's socket, which must be short. */
function socketName(connectionName: string): string {
  return createHash('sha256').update(connectionName).digest('hex').slice(0, 32) + SOCKET_SUFFIX;
}

/**
 * Access to volumes whose content another host stores. Each server has a separate socket for each volume, so that
 * disconnecting a volume from one server does not affect another.
 */
export class RemoteVolumes implements VolumeAccess {
  readonly #options: RemoteVolumesOptions;
  readonly #tunnels = new Map<string, Promise<Tunnel>>();

  constructor(options: RemoteVolumesOptions) {
    this.#options = options;
  }

  get #folder(): string {
    return join(this.#options.directory, 'far');
  }

  async #volumeHost(): Promise<string> {
    const volumeHost = await this.#options.hosts.volumeHost();
    if (volumeHost === null)
      throw new QemuError('UNSUPPORTED', 'no host stores volumes: start one host with --volumes');
    return volumeHost;
  }

  async #request<T>(request: TransferRequest): Promise<T> {
    const { hosts } = this.#options;
    return (await hosts.request(await this.#volumeHost(), request, AbortSignal.timeout(REQUEST_TIMEOUT_MS))) as T;
  }

  /** Returns the id that identifies a server of this host on the host that stores volumes. */
  #userIdOf(serverId: string): string {
    return remoteUserId(serverId, this.#options.hosts.self);
  }

  async open({ id, userId, projectId }: VolumeUser, volumeId: string): Promise<VolumeShape> {
    const user = { id: this.#userIdOf(id), userId, projectId };
    const content = await this.#request<string>({ kind: 'open volume', user, volumeId });
    const { path } = await this.#tunnel(content + CONNECTION_SEPARATOR + id);
    return {
      id: volumeDeviceId(volumeId),
      serial: volumeId,
      socket: path,
      exportName: EXPORT_NAME,
      readOnly: false,
      reconnectSeconds: RECONNECT_SECONDS,
    };
  }

  /** @param connectionName the content name and the server id */
  #tunnel(connectionName: string): Promise<Tunnel> {
    const cachedTunnel = this.#tunnels.get(connectionName) ?? this.#listen(connectionName);
    this.#tunnels.set(connectionName, cachedTunnel);
    cachedTunnel.catch(() => this.#tunnels.delete(connectionName));
    return cachedTunnel;
  }

  async #listen(connectionName: string): Promise<Tunnel> {
    await writeFile(join(this.#folder, connectionName), '');
    const neverAborted = new AbortController().signal;
    const [content = '', serverId = ''] = connectionName.split(CONNECTION_SEPARATOR);
    const userId = this.#userIdOf(serverId);
    const request: TransferRequest = { kind: 'volume', content, userId };
    const connectRemote = async () => this.#options.hosts.connect(await this.#volumeHost(), request, neverAborted);
    return openTunnel(join(this.#folder, socketName(connectionName)), this.#options.changeOwner, connectRemote);
  }

  async close(serverId: string, volumeId: string): Promise<void> {
    const content = await this.#request<string | null>({
      kind: 'close volume',
      userId: this.#userIdOf(serverId),
      volumeId,
    });
    if (content === null) return;
    const connectionName = content + CONNECTION_SEPARATOR + serverId;
    await rm(join(this.#folder, connectionName), { force: true });
    const tunnel = this.#tunnels.get(connectionName);
    this.#tunnels.delete(connectionName);
    await (await tunnel)?.close();
  }

  async detach(host: string, serverId: string, volumeId: string): Promise<void> {
    await this.#request({ kind: 'close volume', userId: remoteUserId(serverId, host), volumeId });
  }

  async reattach(host: string, { id, userId, projectId }: VolumeUser, volumeId: string): Promise<void> {
    await this.#request({ kind: 'open volume', user: { id: remoteUserId(id, host), userId, projectId }, volumeId });
  }

  async recover(): Promise<void> {
    for (const name of await readdir(this.#folder)) if (!name.endsWith(SOCKET_SUFFIX)) await this.#tunnel(name);
  }

  async stop(): Promise<void> {
    for (const tunnel of this.#tunnels.values()) await (await tunnel.catch(() => undefined))?.close();
    this.#tunnels.clear();
  }
}
