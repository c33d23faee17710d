import { chown, mkdir, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunAs } from '../programs/run-program.js';
import type { ProcessFolder } from './machine-process.js';

/** The files of a machine; each machine has its own folder. */
const FILES = {
  root: 'root.qcow2',
  /** The backing file of the root disk: its own link to the image, so that it exists as long as the machine. */
  rootBase: 'root.base.raw',
  /** Exists if the image is a CD: the drive contains `rootBase`, and a root disk does not exist. */
  cdrom: 'root.cdrom',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  /** The kernel command line. */
  commandLine: 'kernel.args',
  /** The variable store of a UEFI machine: its boot entries and keys. */
  firmwareVariables: 'firmware.vars',
  /** The state of a TPM: its keys, counters and the user's data. The program that emulates it chooses the names. */
  tpm2State: 'tpm2-00.permall',
  tpm1State: 'tpm-00.permall',
  tpm: 'tpm',
  tpmPid: 'tpm.pid',
  tpmErrorLog: 'tpm.log',
  rescue: 'rescue.qcow2',
  rescueBase: 'rescue.base.raw',
  rescueCdrom: 'rescue.cdrom',
  rescueKernel: 'rescue.kernel',
  rescueRamdisk: 'rescue.ramdisk',
  rescueCommandLine: 'rescue.kernel.args',
  rescueConfigDrive: 'rescue.config.img',
  configDrive: 'config.img',
  configTree: 'config',
  memory: 'memory.bin',
  /** The device layout that belongs to the saved memory. */
  layout: 'memory.layout.json',
  console: 'console.log',
  errorLog: 'qemu.log',
  pid: 'pid',
  qmp: 'qmp',
  /** The control socket for fences. `fenceMachines` uses this name, and the names of `pid`, `qmp` and `fenced`. */
  guard: 'guard',
  /** Exists while the machine is paused by a fence. */
  fenced: 'fenced',
  serial: 'serial',
  vnc: 'vnc',
  /** The channel to the agent in the guest. */
  agent: 'agent',
  /** Exists while the file systems of the guest are frozen and must be thawed later. */
  frozen: 'frozen',
  moving: 'moving',
  /** Host ports that are forwarded to the guest. */
  forwards: 'forwards.json',
  /** The boot ID of the host when the machine was last started. */
  hostBoot: 'host-boot',
  /** The metadata of the guest. */
  metadata: 'story.json',
  /** The CPU of the machine. */
  cpu: 'cpu.json',
  /** The dedicated cores of the machine. */
  cores: 'cores',
  /** The image that backs the root disk. */
  rootImage: 'root.image',
  rescueImage: 'rescue.image',
  /** The latest move to or from this host: disks of an older move are stale. */
  move: 'move',
  /** Exists while the machine waits for its state from another host. */
  arriving: 'arriving',
  /** Sockets for outgoing and incoming disks. Names of sockets have at most six letters, because the length of their paths is limited. */
  mirror: 'mirror',
  export: 'export',
} as const;

/** Files on the storage of disks, which hosts may share; all others are local. */
const ON_DISK_STORAGE: ReadonlySet<MachineFile> = new Set<MachineFile>([
  ...(['root', 'rootBase', 'rootImage', 'cdrom', 'kernel', 'ramdisk', 'commandLine'] as const),
  ...(['firmwareVariables', 'tpm2State', 'tpm1State', 'configDrive'] as const),
  ...(['rescue', 'rescueBase', 'rescueImage', 'rescueCdrom'] as const),
  ...(['rescueKernel', 'rescueRamdisk', 'rescueCommandLine', 'rescueConfigDrive'] as const),
]);

/** Maximum size of a console log. */
const CONSOLE_BYTES = 2 ** 20;

export type MachineFile = keyof typeof FILES;

/** Makes the user that runs machines the owner of a file or folder. */
export async function changeOwner(path: string, runAs: RunAs | undefined): Promise<void> {
  if (runAs) await chown(path, runAs.uid, runAs.gid);
}

export class MachineFolder implements ProcessFolder {
  readonly path: string;
  readonly #diskPath: string;
  readonly #runAs: RunAs | undefined;

  /** @param diskPath the folder of its disks if hosts share them */
  constructor(path: string, runAs: RunAs | undefined, diskPath = path) {
    this.path = path;
    this.#diskPath = diskPath;
    this.#runAs = runAs;
  }

  file(name: MachineFile): string {
    return join(ON_DISK_STORAGE.has(name) ? this.#diskPath : this.path, FILES[name]);
  }

  /** Files that a killed machine leaves behind. */
  get staleFiles(): readonly string[] {
    return (
      ['pid', 'qmp', 'guard', 'fenced', 'serial', 'vnc', 'agent', 'frozen', 'moving', 'mirror', 'export'] as const
    ).map((name) => this.file(name));
  }

  /** Returns the path of a disk that is neither the root disk nor a volume: `ephemeral`, `swap`. */
  disk(name: string): string {
    return join(this.#diskPath, `${name}.qcow2`);
  }

  /** Returns the path of a copy of the disk that becomes an image. */
  snapshot(imageId: string): string {
    return join(this.path, `snapshot-${imageId}`);
  }

  /** Creates the folder, accessible only to the user that runs machines. */
  async make(): Promise<void> {
    for (const path of new Set([this.path, this.#diskPath])) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await this.changeOwner(path);
    }
  }

  /** Returns true if the machine has disks on shared storage, created by any host. */
  async hasSharedDisks(): Promise<boolean> {
    if (this.#diskPath === this.path) return false;
    return stat(this.#diskPath).then(
      () => true,
      () => false,
    );
  }

  /** Makes the user that runs machines the owner of a file or folder. */
  async changeOwner(path: string): Promise<void> {
    await changeOwner(path, this.#runAs);
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

  /** Removes everything. The local folder is last, because its existence shows that something remains to be removed. */
  async remove(): Promise<void> {
    await rm(this.#diskPath, { recursive: true, force: true });
    await this.removeLocal();
  }

  /** Removes local files only; shared disks stay. */
  async removeLocal(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** Returns the end of the console log, up to its maximum size. Truncates the file if it has grown too large. */
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

  /**
   * Truncates a console log to its end when it has twice its maximum size. QEMU appends its output
   * to the rest.
   */
  async truncateConsole(): Promise<void> {
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
