import { randomUUID } from 'node:crypto';
import { lstat, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredVolume } from '@apistrata/compute-engine/drivers';
import { ifMissing } from '../machine/if-missing.js';
import type { RunAs } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { VolumeContent } from './volume-content.js';

/**
 * The volumes of this computer: a volume is a symbolic link, named by its id, whose target is the name of its content.
 * A link can be replaced atomically.
 */
export class VolumeLinks {
  readonly #directory: string;
  readonly #runAs: RunAs | undefined;

  constructor(directory: string, runAs: RunAs | undefined) {
    this.#directory = directory;
    this.#runAs = runAs;
  }

  #path(id: string): string {
    return join(this.#directory, 'volumes', id);
  }

  /** Returns the content with this name, which may not exist. */
  contentNamed(name: string): VolumeContent {
    return new VolumeContent(join(this.#directory, 'contents', name), this.#runAs);
  }

  /** Returns the name of a volume's content; null if this computer does not store the volume. */
  nameOf(id: string): Promise<string | null> {
    return ifMissing(readlink(this.#path(id)), null);
  }

  /** Returns a volume's content; undefined if this computer does not store the volume. */
  async find(id: string): Promise<VolumeContent | undefined> {
    const name = await this.nameOf(id);
    return name === null ? undefined : this.contentNamed(name);
  }

  /** Returns a volume's content. @throws QemuError `UNSUPPORTED` if this computer does not store the volume */
  async get(id: string): Promise<VolumeContent> {
    const content = await this.find(id);
    if (!content) throw new QemuError('UNSUPPORTED', `this host does not store the content of the volume ${id}`);
    return content;
  }

  /** Links a new volume to its content. */
  add(id: string, name: string): Promise<void> {
    return symlink(name, this.#path(id));
  }

  /** Links a volume to other content. */
  async replace(id: string, name: string): Promise<void> {
    const temporaryPath = `${this.#path(id)}.${randomUUID()}.new`;
    await symlink(name, temporaryPath);
    await rename(temporaryPath, this.#path(id));
  }

  /** Links a volume to the content of another one, which then has none. */
  move(fromId: string, id: string): Promise<void> {
    return rename(this.#path(fromId), this.#path(id));
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  /** Returns all volumes. */
  async list(): Promise<readonly StoredVolume[]> {
    const ids = (await readdir(join(this.#directory, 'volumes'))).filter((name) => !name.includes('.'));
    return Promise.all(ids.map(async (id) => ({ id, storedAt: (await lstat(this.#path(id))).mtimeMs })));
  }

  /** Returns all contents, including those that no volume is linked to. */
  async contents(): Promise<readonly VolumeContent[]> {
    return (await readdir(join(this.#directory, 'contents'))).map((name) => this.contentNamed(name));
  }
}
