import { randomUUID } from 'node:crypto';
import { lstat, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { basename, join } from 'node:path';
import type { DriverServices, StoredVolume, VolumeOrigin, VolumeStorage } from '@apistrata/compute-engine/drivers';
import { blockNodeOf, copyWhileRunning } from '../machine/copy-disk.js';
import { ifMissing } from '../machine/if-missing.js';
import { findProcess } from '../machine/machine-process.js';
import type { VolumeShape } from '../machine/machine-shape.js';
import { type DiskTools, diskBytes, GIB, makeDisk } from '../machine/prepare-disks.js';
import { findProgram } from '../programs/find-program.js';
import { type RunAs, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { Serving } from './serving.js';
import { type VolumeAccess, type VolumeUser, volumeDeviceId } from './volume-access.js';
import { VolumeContent } from './volume-content.js';
import { DISK, EXPORT, endServer, growServed, serveVolume, withServer } from './volume-server.js';
import { farUser, WaysToContent } from './ways-to-content.js';

type Caller = Parameters<VolumeStorage['create']>[0];

/** How long content may be without a volume: making it takes its time. */
const UNFINISHED_MS = 3_600_000;

export interface VolumeStoreOptions {
  readonly directory: string;
  readonly tools: DiskTools;
  readonly runAs: RunAs | undefined;
  readonly volumes: DriverServices['volumes'];
}

/**
 * Volumes as files of this computer, each served by a process of its own while servers have it. A volume is a link to its
 * content, so that a migration gives it another content at one stroke, under the guests that use it.
 */
export class VolumeStore implements VolumeStorage, VolumeAccess {
  readonly #options: VolumeStoreOptions;
  readonly #ways = new WaysToContent();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #leaving = new AbortController();
  readonly #serving = new Serving((volumeId) => this.#serveAgain(volumeId));

  constructor(options: VolumeStoreOptions) {
    this.#options = options;
  }

  #link(id: string): string {
    return join(this.#options.directory, 'volumes', id);
  }

  #at(name: string): VolumeContent {
    const { directory, runAs } = this.#options;
    return new VolumeContent(join(directory, 'contents', name), runAs);
  }

  async #find(id: string): Promise<VolumeContent | undefined> {
    const name = await ifMissing(readlink(this.#link(id)), undefined);
    return name === undefined ? undefined : this.#at(name);
  }

  async #content(id: string): Promise<VolumeContent> {
    const content = await this.#find(id);
    if (!content) throw new QemuError('NOT_POSSIBLE', `there is no content of the volume ${id} on this computer`);
    return content;
  }

  /** What is done to one volume is done one after the other. */
  async #turn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id);
    const mine = (before ?? Promise.resolve()).catch(() => {}).then(work);
    this.#turns.set(id, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(id) === mine) this.#turns.delete(id);
    }
  }

  get #run() {
    return { runAs: this.#options.runAs, signal: this.#leaving.signal };
  }

  async create(
    caller: Caller,
    volume: { id: string; sizeGb: number; origin: VolumeOrigin },
    taken?: () => void,
  ): Promise<void> {
    await this.#turn(volume.id, async () => {
      if (!(await this.#find(volume.id)))
        await this.#make(caller, volume, (name) => symlink(name, this.#link(volume.id)), taken);
    });
  }

  /** Makes content, and has it found once it is whole. */
  async #make(
    caller: Caller,
    { sizeGb, origin }: { readonly sizeGb: number; readonly origin: VolumeOrigin },
    publish: (name: string) => Promise<void>,
    taken?: () => void,
  ): Promise<void> {
    const name = randomUUID();
    const content = this.#at(name);
    try {
      await content.make();
      const disk = content.file('disk');
      const { tools } = this.#options;
      const { signal } = this.#run;
      if (origin.kind === 'copy') await this.#copy(origin.id, disk, taken);
      else if (origin.kind === 'blank') await makeDisk(tools, disk, sizeGb * GIB, null, signal);
      else {
        const base = content.file('base');
        await tools.cache.put(caller, origin.imageId, base, sizeGb * GIB, signal);
        await makeDisk(tools, disk, sizeGb * GIB, base, signal);
      }
      await this.#growFile(content, sizeGb * GIB);
      await publish(name);
    } catch (error) {
      await content.remove();
      throw error;
    }
  }

  /** Copies what a volume holds at this moment; a file that leans on nothing. */
  async #copy(id: string, target: string, taken = () => {}): Promise<void> {
    const source = await this.#content(id);
    const { qemuImg } = this.#options.tools;
    await this.#turn(`of ${source.path}`, async () => {
      const served = await withServer(source, async (qmp) => {
        await copyWhileRunning(qmp, DISK, target, { qemuImg, ...this.#run }, (begin) => begin().then(taken));
        return true;
      });
      if (!served)
        await runProgram(qemuImg, ['convert', '-f', 'qcow2', '-O', 'qcow2', source.file('disk'), target], this.#run);
    });
  }

  async #growFile(content: VolumeContent, bytes: number): Promise<void> {
    const { tools } = this.#options;
    const { qemuImg } = tools;
    if ((await diskBytes(tools, content.file('disk'), this.#run.signal)) >= bytes) return;
    await runProgram(qemuImg, ['resize', '-q', '-f', 'qcow2', content.file('disk'), `${bytes}`], this.#run);
  }

  async remove(id: string): Promise<void> {
    await this.#turn(id, async () => {
      const content = await this.#find(id);
      await rm(this.#link(id), { force: true });
      if (content) await this.#discard(content);
    });
  }

  async #discard(content: VolumeContent): Promise<void> {
    await endServer(content);
    await content.remove();
  }

  async extend(id: string, sizeGb: number): Promise<void> {
    await this.#turn(id, async () => {
      // A volume that nobody has used yet may have no content here: it is made with its new size.
      const content = await this.#find(id);
      if (!content) return;
      const bytes = sizeGb * GIB;
      const served = await withServer(content, async (qmp) => {
        const { 'virtual-size': size } = await blockNodeOf(qmp, DISK);
        if (size < bytes) await growServed(qmp, bytes, this.#leaving.signal);
        return true;
      });
      if (!served) await this.#growFile(content, bytes);
    });
  }

  async reimage(caller: Caller, id: string, imageId: string, sizeGb: number): Promise<void> {
    await this.#turn(id, async () => {
      const before = await this.#find(id);
      const draft = `${this.#link(id)}.${randomUUID()}.new`;
      await this.#make(caller, { sizeGb, origin: { kind: 'image', imageId } }, async (name) => {
        await symlink(name, draft);
        await rename(draft, this.#link(id));
      });
      if (before) await this.#discard(before);
    });
  }

  async replace(id: string, newId: string): Promise<void> {
    await this.#turn(id, async () => {
      if (!(await this.#find(newId))) return;
      const before = await this.#find(id);
      await rename(this.#link(newId), this.#link(id));
      if (before) await this.#discard(before);
    });
  }

  async list(): Promise<readonly StoredVolume[]> {
    const folder = join(this.#options.directory, 'volumes');
    const names = (await readdir(folder)).filter((name) => !name.includes('.'));
    return Promise.all(names.map(async (id) => ({ id, storedAt: (await lstat(join(folder, id))).mtimeMs })));
  }

  /** Serves a volume for a server, until `close`. A volume of another service that has no content yet gets it now. */
  async open(server: VolumeUser, volumeId: string): Promise<VolumeShape> {
    return this.#turn(volumeId, async () => {
      const content = (await this.#find(volumeId)) ?? (await this.#first(server, volumeId));
      await content.addUser(server.id);
      await this.#serve(volumeId, content);
      return {
        id: volumeDeviceId(volumeId),
        serial: volumeId,
        socket: content.file('socket'),
        exportName: EXPORT,
        readOnly: false,
      };
    });
  }

  async #serve(volumeId: string, content: VolumeContent): Promise<void> {
    const program = findProgram('qemu-storage-daemon', 'the package qemu-system-common');
    await serveVolume(content, program, this.#options.runAs, this.#leaving.signal);
    this.#serving.add(volumeId);
  }

  async #serveAgain(volumeId: string): Promise<void> {
    const content = await this.#find(volumeId);
    if (!content || (await findProcess(content)) !== undefined) return;
    await this.#turn(volumeId, async () => {
      if ((await content.users()).length > 0) await this.#serve(volumeId, content);
    });
  }

  async #first({ userId, projectId }: VolumeUser, volumeId: string): Promise<VolumeContent> {
    const caller = { userId, projectId, roles: [] };
    const { volumes } = this.#options;
    const { sizeGb, snapshotId, sourceVolumeId, imageMetadata } = await volumes.getVolume(caller, volumeId);
    const imageId = imageMetadata.image_id;
    const id = snapshotId ?? sourceVolumeId;
    const made: VolumeOrigin = imageId ? { kind: 'image', imageId } : { kind: 'blank' };
    const origin: VolumeOrigin = id ? { kind: 'copy', id } : made;
    await this.#make(caller, { sizeGb, origin }, (name) => symlink(name, this.#link(volumeId)));
    return this.#content(volumeId);
  }

  /** The way to content for a server of another host. Throws `NOT_POSSIBLE` where that does not use it. */
  connect(name: string, user: string): Promise<Socket> {
    return this.#ways.connect(this.#at(name), user);
  }

  takeFrom(host: string, serverId: string, volumeId: string): Promise<void> {
    return this.close(farUser(serverId, host), volumeId);
  }

  async giveBackTo(host: string, server: VolumeUser, volumeId: string): Promise<void> {
    await this.open({ ...server, id: farUser(server.id, host) }, volumeId);
  }

  /** The name of a volume's content; null where it has none here. */
  async contentOf(volumeId: string): Promise<string | null> {
    const content = await this.#find(volumeId);
    return content ? basename(content.path) : null;
  }

  /** A server has no use for a volume any more; the last one ends the process that serves it. */
  async close(serverId: string, volumeId: string): Promise<void> {
    await this.#turn(volumeId, async () => {
      const content = await this.#find(volumeId);
      if (!content) return;
      await content.removeUser(serverId);
      this.#ways.left(content, serverId);
      if ((await content.users()).length > 0) return;
      this.#serving.delete(volumeId);
      await endServer(content);
    });
  }

  /**
   * Begins again to serve what is in use: after this computer, or a process that serves a volume, has ended by accident. Guests
   * that wait for their volumes go on. Forgets content whose making was cut off.
   */
  async recover(): Promise<void> {
    const { directory } = this.#options;
    const linked = new Set<string>();
    for (const { id } of await this.list()) {
      const content = await this.#find(id);
      if (!content) continue;
      linked.add(content.path);
      if ((await content.users()).length === 0) continue;
      await this.#turn(id, () => this.#serve(id, content));
    }
    for (const name of await readdir(join(directory, 'contents'))) {
      const content = this.#at(name);
      const { mtimeMs } = await stat(content.path);
      if (!linked.has(content.path) && mtimeMs < Date.now() - UNFINISHED_MS) await this.#discard(content);
    }
  }

  /** Ends what is being made. Volumes are served on. */
  async leave(): Promise<void> {
    this.#leaving.abort(new Error('the engine is closing'));
    await this.#serving.leave();
    await Promise.allSettled(this.#turns.values());
  }
}
