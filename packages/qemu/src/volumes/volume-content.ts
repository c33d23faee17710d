import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifMissing } from '../machine/if-missing.js';
import type { ProcessFolder } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';

const FILE_NAMES = {
  socket: 'nbd',
  pid: 'pid',
  qmp: 'qmp',
  errorLog: 'server.log',
  users: 'users',
  image: 'image',
} as const;

/** The content of a volume: a disk in a backend, and a folder with the files of the process that serves the disk. */
export class VolumeContent implements ProcessFolder {
  readonly path: string;
  readonly #runAs: RunAs | undefined;

  constructor(path: string, runAs: RunAs | undefined) {
    this.path = path;
    this.#runAs = runAs;
  }

  /** The name of the content, which is also the name of the disk. */
  get name(): string {
    return basename(this.path);
  }

  file(name: keyof typeof FILE_NAMES): string {
    return join(this.path, FILE_NAMES[name]);
  }

  get staleFiles(): readonly string[] {
    return (['pid', 'qmp', 'socket'] as const).map((name) => this.file(name));
  }

  /** Creates the content's folder, accessible only to the user that runs QEMU. */
  async createFolder(): Promise<void> {
    await mkdir(this.path, { mode: 0o700 });
    await mkdir(this.file('users'), { mode: 0o700 });
    if (this.#runAs) await chown(this.path, this.#runAs.uid, this.#runAs.gid);
  }

  /** Returns the servers that use the content, including stopped ones. */
  users(): Promise<readonly string[]> {
    return ifMissing(readdir(this.file('users')), []);
  }

  async addUser(serverId: string): Promise<void> {
    await writeFile(join(this.file('users'), serverId), '');
  }

  async removeUser(serverId: string): Promise<void> {
    await rm(join(this.file('users'), serverId), { force: true });
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
