import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { DriverServices, StoredVolume, VolumeOrigin, VolumeStorage } from '@apistrata/compute-engine/drivers';
import { queryBlockNode } from '../machine/copy-disk.js';
import { findProcess } from '../machine/machine-process.js';
import type { VolumeShape } from '../machine/machine-shape.js';
import { type DiskTools, GIB } from '../machine/prepare-disks.js';
import { findProgram } from '../programs/find-program.js';
import type { RunAs } from '../programs/run-program.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { readAsImage } from './read-as-image.js';
import { type VolumeAccess, type VolumeUser, volumeDeviceId } from './volume-access.js';
import type { VolumeBackend } from './volume-backend.js';
import type { VolumeContent } from './volume-content.js';
import { VolumeLinks } from './volume-links.js';
import { DISK_NODE, EXPORT_NAME, growExport, runOnServer, serveVolume, stopServer } from './volume-server.js';
import { VolumeServerMonitor } from './volume-server-monitor.js';
import { remoteUserId, VolumeTransports } from './volume-transports.js';

type Caller = Parameters<VolumeStorage['create']>[0];

/** The maximum age of content without a volume. Content belongs to no volume until it is complete. */
const MAX_UNLINKED_AGE_MS = 3_600_000;

export interface VolumeStoreOptions {
  readonly directory: string;
  /** The backend that stores the disks of volumes. */
  readonly backend: VolumeBackend;
  readonly tools: Pick<DiskTools, 'cache' | 'qemuImg' | 'run'>;
  readonly runAs: RunAs | undefined;
  readonly volumes: DriverServices['volumes'];
}

/**
 * Stores volumes in a backend. A separate process serves each volume while servers use it. A volume is a link to its
 * content, so that a volume migration can replace the content atomically while guests use the volume.
 */
export class VolumeStore implements VolumeStorage, VolumeAccess {
  readonly #options: VolumeStoreOptions;
  readonly #links: VolumeLinks;
  readonly #transports = new VolumeTransports();
  readonly #pending = new Map<string, Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #monitor = new VolumeServerMonitor((volumeId) => this.#resumeServing(volumeId));

  constructor(options: VolumeStoreOptions) {
    this.#options = options;
    this.#links = new VolumeLinks(options.directory, options.runAs);
  }

  /** Runs operations with the same id sequentially. */
  async #runInOrder<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#pending.get(id) ?? Promise.resolve()).catch(() => {}).then(work);
    this.#pending.set(id, result);
    try {
      return await result;
    } finally {
      if (this.#pending.get(id) === result) this.#pending.delete(id);
    }
  }

  async create(
    caller: Caller,
    volume: { id: string; sizeGb: number; origin: VolumeOrigin },
    onCaptured?: () => void,
  ): Promise<void> {
    await this.#runInOrder(volume.id, async () => {
      if (!(await this.#links.find(volume.id)))
        await this.#createContent(caller, volume, (name) => this.#links.add(volume.id, name), onCaptured);
    });
  }

  /** Creates a volume's content, and publishes the content when it is complete. */
  async #createContent(
    caller: Caller,
    { sizeGb, origin }: { readonly sizeGb: number; readonly origin: VolumeOrigin },
    publish: (name: string) => Promise<void>,
    onCaptured?: () => void,
  ): Promise<void> {
    const { tools, backend } = this.#options;
    const { signal } = this.#closing;
    const bytes = sizeGb * GIB;
    await backend.checkSpace(bytes);
    const name = randomUUID();
    const content = this.#links.contentNamed(name);
    try {
      await content.createFolder();
      if (origin.kind === 'copy') await this.#copy(origin.id, name, onCaptured);
      else if (origin.kind === 'blank') await backend.create(name, bytes, signal);
      else {
        const { imageId } = origin;
        const fetch = (file: string) => tools.cache.linkImage(caller, imageId, file, bytes, signal);
        await backend.createFromImage(name, bytes, fetch, signal);
      }
      if ((await backend.size(name, signal)) < bytes) await backend.resize(name, bytes, false, signal);
      await publish(name);
    } catch (error) {
      await backend.remove(name);
      await content.remove();
      throw error;
    }
  }

  /** Copies a volume's current content to a new disk. */
  async #copy(id: string, name: string, onCaptured = () => {}): Promise<void> {
    const source = await this.#links.get(id);
    const { backend } = this.#options;
    const copy = (qmp: QmpClient | undefined) =>
      backend.copy(source.name, name, { qmp, onCaptured, signal: this.#closing.signal });
    await this.#runInOrder(`of ${source.path}`, async () => {
      if (!(await runOnServer(source, (qmp) => copy(qmp).then(() => true)))) await copy(undefined);
    });
  }

  async remove(id: string): Promise<void> {
    await this.#runInOrder(id, async () => {
      const content = await this.#links.find(id);
      await this.#links.remove(id);
      if (content) await this.#discard(content);
    });
  }

  async #discard(content: VolumeContent): Promise<void> {
    await stopServer(content);
    await this.#options.backend.remove(content.name);
    await content.remove();
  }

  async extend(id: string, sizeGb: number): Promise<void> {
    await this.#runInOrder(id, async () => {
      const content = await this.#links.find(id);
      if (!content) return; // An unused volume may have no content here yet; it is created later, with the new size.
      const bytes = sizeGb * GIB;
      const [{ backend }, { signal }, { name }] = [this.#options, this.#closing, content];
      const size = await backend.size(name, signal);
      await backend.checkSpace(bytes - size);
      const isServed = await runOnServer(content, async (qmp) => {
        const { 'virtual-size': visible } = await queryBlockNode(qmp, DISK_NODE);
        if (visible >= bytes) return true;
        await backend.resize(name, bytes, true, signal);
        await growExport(qmp, bytes, signal);
        return true;
      });
      if (!isServed && size < bytes) await backend.resize(name, bytes, false, signal);
    });
  }

  async read({ userId, projectId }: Caller, id: string, format: string): Promise<AsyncIterable<Uint8Array>> {
    const { tools, backend } = this.#options;
    const copy = this.#links.contentNamed(randomUUID());
    return this.#runInOrder(id, async () => {
      const content = (await this.#links.find(id)) ?? (await this.#createMissing({ userId, projectId }, id));
      const disk = await backend.attach(content.name);
      return readAsImage(disk, { format, copy, tools, signal: this.#closing.signal });
    });
  }

  async reimage(caller: Caller, id: string, imageId: string, sizeGb: number): Promise<void> {
    await this.#runInOrder(id, async () => {
      const previousContent = await this.#links.find(id);
      const origin = { kind: 'image', imageId } as const;
      await this.#createContent(caller, { sizeGb, origin }, (name) => this.#links.replace(id, name));
      if (previousContent) await this.#discard(previousContent);
    });
  }

  async replace(id: string, newId: string): Promise<void> {
    await this.#runInOrder(id, async () => {
      if (!(await this.#links.find(newId))) return;
      const previousContent = await this.#links.find(id);
      await this.#links.move(newId, id);
      if (previousContent) await this.#discard(previousContent);
    });
  }

  usage(): ReturnType<VolumeBackend['usage']> {
    return this.#options.backend.usage();
  }

  list(): Promise<readonly StoredVolume[]> {
    return this.#links.list();
  }

  /**
   * Exports a volume to a server until `close()` is called. If an external volume service (such as Cinder) manages the
   * volume and this host has no content for it yet, creates the content first.
   */
  async open(server: VolumeUser, volumeId: string): Promise<VolumeShape> {
    return this.#runInOrder(volumeId, async () => {
      const content = (await this.#links.find(volumeId)) ?? (await this.#createMissing(server, volumeId));
      await content.addUser(server.id);
      await this.#serve(volumeId, content);
      return {
        id: volumeDeviceId(volumeId),
        serial: volumeId,
        socket: content.file('socket'),
        exportName: EXPORT_NAME,
        readOnly: false,
      };
    });
  }

  async #serve(volumeId: string, content: VolumeContent): Promise<void> {
    const program = findProgram('qemu-storage-daemon', 'the package qemu-system-common');
    const { backend, runAs } = this.#options;
    const attach = () => backend.attach(content.name);
    await serveVolume(content, attach, program, runAs, this.#closing.signal);
    this.#monitor.add(volumeId);
  }

  async #resumeServing(volumeId: string): Promise<void> {
    const content = await this.#links.find(volumeId);
    if (!content || (await findProcess(content)) !== undefined) return;
    await this.#runInOrder(volumeId, async () => {
      if ((await content.users()).length > 0) await this.#serve(volumeId, content);
    });
  }

  async #createMissing(
    { userId, projectId }: Pick<VolumeUser, 'userId' | 'projectId'>,
    volumeId: string,
  ): Promise<VolumeContent> {
    const caller = { userId, projectId, roles: [] };
    const { volumes } = this.#options;
    const { sizeGb, snapshotId, sourceVolumeId, imageMetadata } = await volumes.getVolume(caller, volumeId);
    const imageId = imageMetadata.image_id;
    const id = snapshotId ?? sourceVolumeId;
    const origin: VolumeOrigin = id ? { kind: 'copy', id } : imageId ? { kind: 'image', imageId } : { kind: 'blank' };
    await this.#createContent(caller, { sizeGb, origin }, (name) => this.#links.add(volumeId, name));
    return this.#links.get(volumeId);
  }

  /**
   * Connects a server on another host to a volume's content.
   * @throws QemuError `UNSUPPORTED` if the server does not use it
   */
  connect(name: string, user: string): Promise<Socket> {
    return this.#transports.connect(this.#links.contentNamed(name), user);
  }

  detach(host: string, serverId: string, volumeId: string): Promise<void> {
    return this.close(remoteUserId(serverId, host), volumeId);
  }

  async reattach(host: string, server: VolumeUser, volumeId: string): Promise<void> {
    await this.open({ ...server, id: remoteUserId(server.id, host) }, volumeId);
  }

  /** Returns the name of a volume's content; null if this computer does not store the content. */
  contentNameOf(volumeId: string): Promise<string | null> {
    return this.#links.nameOf(volumeId);
  }

  /** Ends a server's use of a volume. If no other server uses the volume, ends the process that serves it. */
  async close(serverId: string, volumeId: string): Promise<void> {
    await this.#runInOrder(volumeId, async () => {
      const content = await this.#links.find(volumeId);
      if (!content) return;
      await content.removeUser(serverId);
      this.#transports.disconnect(content, serverId);
      if ((await content.users()).length > 0) return;
      this.#monitor.delete(volumeId);
      await stopServer(content);
    });
  }

  /**
   * Restarts the processes that serve volumes if this computer was rebooted or a process has died, so that waiting
   * guests can continue. Deletes incomplete content.
   */
  async recover(): Promise<void> {
    const linkedPaths = new Set<string>();
    for (const { id } of await this.list()) {
      const content = await this.#links.find(id);
      if (!content) continue;
      linkedPaths.add(content.path);
      if ((await content.users()).length === 0) continue;
      await this.#runInOrder(id, () => this.#serve(id, content));
    }
    for (const content of await this.#links.contents()) {
      const { mtimeMs } = await stat(content.path);
      if (!linkedPaths.has(content.path) && mtimeMs < Date.now() - MAX_UNLINKED_AGE_MS) await this.#discard(content);
    }
  }

  /** Cancels the creation of content. The processes that serve volumes keep running. */
  async stop(): Promise<void> {
    this.#closing.abort(new Error('the engine is closing'));
    await this.#monitor.stop();
    await Promise.allSettled(this.#pending.values());
  }
}
