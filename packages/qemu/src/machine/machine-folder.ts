import { chown, mkdir, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunAs } from '../programs/run-program.js';
import type { ProcessFolder } from './machine-process.js';

/** What a machine has on the disk; each machine has a folder of its own. */
const FILES = {
  root: 'root.qcow2',
  /** What the root disk leans on: the image, by a link of its own, so that it stays as long as the machine. */
  rootBase: 'root.base.raw',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  /** What the kernel is told. */
  commandLine: 'kernel.args',
  rescue: 'rescue.qcow2',
  rescueBase: 'rescue.base.raw',
  rescueKernel: 'rescue.kernel',
  rescueRamdisk: 'rescue.ramdisk',
  rescueCommandLine: 'rescue.kernel.args',
  rescueConfigDrive: 'rescue.config.img',
  configDrive: 'config.img',
  configTree: 'config',
  memory: 'memory.bin',
  /** Where the devices are that the memory knows. */
  layout: 'memory.layout.json',
  console: 'console.log',
  complaints: 'qemu.log',
  pid: 'pid',
  qmp: 'qmp',
  serial: 'serial',
  vnc: 'vnc',
  /** The channel to the agent in the guest. */
  agent: 'agent',
  /** While the files of the guest are at rest: somebody has to let it go on. */
  frozen: 'frozen',
  moving: 'moving',
  /** Ports of this computer that lead to the guest. */
  forwards: 'forwards.json',
  /** What the metadata service tells the guest of itself. */
  story: 'story.json',
  /** The cores of this computer that the machine has to itself. */
  cores: 'cores',
  /** Which image the root disk leans on. */
  rootImage: 'root.image',
  rescueImage: 'rescue.image',
  /** Which move to another host has begun here, or has ended here: disks of an older one are no good. */
  move: 'move',
  /** While it waits for what it is to take over from another host. */
  arriving: 'arriving',
  /** Sockets by which disks go to another host, and come from there. Names of sockets have six letters at the most. */
  mirror: 'mirror',
  export: 'export',
} as const;

/** What is on the storage of disks, which hosts may share; everything else is of one computer. */
const ON_DISK_STORAGE: ReadonlySet<MachineFile> = new Set<MachineFile>([
  ...(['root', 'rootBase', 'rootImage', 'kernel', 'ramdisk', 'commandLine', 'configDrive'] as const),
  ...(['rescue', 'rescueBase', 'rescueImage', 'rescueKernel', 'rescueRamdisk', 'rescueCommandLine'] as const),
  'rescueConfigDrive',
]);

/** The most that is kept of what a console printed. */
const CONSOLE_BYTES = 2 ** 20;

export type MachineFile = keyof typeof FILES;

/** Makes a file or folder the property of the user that machines run as. */
export async function giveTo(path: string, runAs: RunAs | undefined): Promise<void> {
  if (runAs) await chown(path, runAs.uid, runAs.gid);
}

export class MachineFolder implements ProcessFolder {
  readonly path: string;
  readonly #diskPath: string;
  readonly #runAs: RunAs | undefined;

  /** @param diskPath where its disks are, where hosts share them */
  constructor(path: string, runAs: RunAs | undefined, diskPath = path) {
    this.path = path;
    this.#diskPath = diskPath;
    this.#runAs = runAs;
  }

  file(name: MachineFile): string {
    return join(ON_DISK_STORAGE.has(name) ? this.#diskPath : this.path, FILES[name]);
  }

  /** What a machine that was killed leaves behind. */
  get leftovers(): readonly string[] {
    return (['pid', 'qmp', 'serial', 'vnc', 'agent', 'frozen', 'moving', 'mirror', 'export'] as const).map((name) =>
      this.file(name),
    );
  }

  /** A disk that is neither the root disk nor a volume: `ephemeral`, `swap`. */
  disk(name: string): string {
    return join(this.#diskPath, `${name}.qcow2`);
  }

  /** A copy of the disk that is to become an image. */
  snapshot(imageId: string): string {
    return join(this.path, `snapshot-${imageId}`);
  }

  /** Only the user that machines run as gets in. */
  async make(): Promise<void> {
    for (const path of new Set([this.path, this.#diskPath])) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await this.give(path);
    }
  }

  /** Whether there are disks of the machine where hosts share them, made by whichever of them. */
  async hasSharedDisks(): Promise<boolean> {
    if (this.#diskPath === this.path) return false;
    return stat(this.#diskPath).then(
      () => true,
      () => false,
    );
  }

  /** Makes a file or folder the property of the user that machines run as. */
  async give(path: string): Promise<void> {
    await giveTo(path, this.#runAs);
  }

  async exists(name: MachineFile): Promise<boolean> {
    return stat(this.file(name)).then(
      () => true,
      () => false,
    );
  }

  async removeFiles(...names: readonly MachineFile[]): Promise<void> {
    for (const name of names) await rm(this.file(name), { force: true });
  }

  /** Removes everything. What is of this computer comes last: by that it is known that there is something to be removed. */
  async remove(): Promise<void> {
    await rm(this.#diskPath, { recursive: true, force: true });
    await this.removeHere();
  }

  /** Removes what is of this computer alone; disks that are shared stay. */
  async removeHere(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** What the console has printed, from its end as much as is kept. Cuts the file back when it has grown too long. */
  async consoleText(): Promise<string> {
    const path = this.file('console');
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size === 0) return '';
    const file = await open(path, 'r');
    try {
      const length = Math.min(size, CONSOLE_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Keeps the end of a console's output that has grown to twice its bound. QEMU appends, so it goes on after what is left. */
  async boundConsole(): Promise<void> {
    const path = this.file('console');
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size <= 2 * CONSOLE_BYTES) return;
    const end = await this.consoleText();
    await truncate(path, 0);
    const file = await open(path, 'a');
    try {
      await file.writeFile(end);
    } finally {
      await file.close();
    }
  }
}
