import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
  /** The volumes that this host stores; undefined if it stores none. */
  readonly local: VolumeAccess | undefined;
  /** Changes the owner of a file to the user that runs QEMU. */
  readonly changeOwner: (path: string) => Promise<void>;
}

/** Returns the file name of a connection's socket, which must be short. */
function socketName(connectionName: string): string {
  return createHash('sha256').update(connectionName).digest('hex').slice(0, 32) + SOCKET_SUFFIX;
}

/**
 * Access to volumes whose content this host or another one stores. For volumes on other hosts, each server has a
 * separate socket for each volume, so that disconnecting a volume from one server does not affect another.
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

  async #volumeHost(volumeId: string): Promise<string> {
    const volumeHost = await this.#options.hosts.volumeHost(volumeId);
    if (volumeHost === null) throw new QemuError('UNSUPPORTED', 'no host stores volumes: start a host with --volumes');
    return volumeHost;
  }

  /** Returns the host that stores a volume, and the access to the volume if this host does. */
  async #find(volumeId: string): Promise<{ readonly host: string; readonly local: VolumeAccess | undefined }> {
    const host = await this.#volumeHost(volumeId);
    const { hosts, local } = this.#options;
    return { host, local: host === hosts.self ? local : undefined };
  }

  async #request<T>(host: string, request: TransferRequest): Promise<T> {
    return (await this.#options.hosts.request(host, request, AbortSignal.timeout(REQUEST_TIMEOUT_MS))) as T;
  }

  /** Returns the id that identifies a server of this host on the host that stores volumes. */
  #userIdOf(serverId: string): string {
    return remoteUserId(serverId, this.#options.hosts.self);
  }

  async open(server: VolumeUser, volumeId: string): Promise<VolumeShape> {
    const { host, local } = await this.#find(volumeId);
    if (local) return local.open(server, volumeId);
    const { id, userId, projectId } = server;
    const user = { id: this.#userIdOf(id), userId, projectId };
    const content = await this.#request<string>(host, { kind: 'open volume', user, volumeId });
    const connectionName = content + CONNECTION_SEPARATOR + id;
    await writeFile(this.#connectionFile(connectionName), host);
    const { path } = await this.#tunnel(connectionName);
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

  /** The file of a connection, which contains the host that stores the volume. */
  #connectionFile(connectionName: string): string {
    return join(this.#folder, connectionName);
  }

  async #listen(connectionName: string): Promise<Tunnel> {
    const neverAborted = new AbortController().signal;
    const [content = '', serverId = ''] = connectionName.split(CONNECTION_SEPARATOR);
    const userId = this.#userIdOf(serverId);
    const request: TransferRequest = { kind: 'volume', content, userId };
    const { hosts } = this.#options;
    const connectRemote = async () => {
      // Files of earlier versions are empty: a single host stored all volumes.
      const host = (await readFile(this.#connectionFile(connectionName), 'utf8')) || (await this.#volumeHost(''));
      return hosts.connect(host, request, neverAborted);
    };
    return openTunnel(join(this.#folder, socketName(connectionName)), this.#options.changeOwner, connectRemote);
  }

  async close(serverId: string, volumeId: string): Promise<void> {
    const { host, local } = await this.#find(volumeId);
    if (local) return local.close(serverId, volumeId);
    const userId = this.#userIdOf(serverId);
    const content = await this.#request<string | null>(host, { kind: 'close volume', userId, volumeId });
    if (content === null) return;
    const connectionName = content + CONNECTION_SEPARATOR + serverId;
    await rm(this.#connectionFile(connectionName), { force: true });
    const tunnel = this.#tunnels.get(connectionName);
    this.#tunnels.delete(connectionName);
    await (await tunnel)?.close();
  }

  async detach(host: string, serverId: string, volumeId: string): Promise<void> {
    const { host: volumeHost, local } = await this.#find(volumeId);
    if (local) return local.detach(host, serverId, volumeId);
    await this.#request(volumeHost, { kind: 'close volume', userId: remoteUserId(serverId, host), volumeId });
  }

  async reattach(host: string, server: VolumeUser, volumeId: string): Promise<void> {
    const { host: volumeHost, local } = await this.#find(volumeId);
    if (local) return local.reattach(host, server, volumeId);
    const { id, userId, projectId } = server;
    const user = { id: remoteUserId(id, host), userId, projectId };
    await this.#request(volumeHost, { kind: 'open volume', user, volumeId });
  }

  async recover(): Promise<void> {
    await this.#options.local?.recover();
    for (const name of await readdir(this.#folder)) if (!name.endsWith(SOCKET_SUFFIX)) await this.#tunnel(name);
  }

  async stop(): Promise<void> {
    await this.#options.local?.stop();
    for (const tunnel of this.#tunnels.values()) await (await tunnel.catch(() => undefined))?.close();
    this.#tunnels.clear();
  }
}
