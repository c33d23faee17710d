import { chown, mkdir, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunAs } from '../programs/run-program.js';
import type { ProcessFolder } from './machine-process.js';

/** The names of the files in a machine's folder. */
const FILE_NAMES = {
  root: 'root.qcow2',
  /** The root disk's backing file: the machine's own link to the image, which exists as long as the machine does. */
  rootBase: 'root.base.raw',
  /** A file that exists if the image is a CD. The CD drive then contains `rootBase`, and there is no root disk. */
  cdrom: 'root.cdrom',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  /** The command line of the kernel in the file `kernel`. */
  commandLine: 'kernel.args',
  /** The UEFI variable store, which contains boot entries and keys. */
  firmwareVariables: 'firmware.vars',
  /** The state of the TPM: keys, counters and user data. The TPM emulator requires these file names. */
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
  /** The device layout of the machine whose memory was saved. */
  layout: 'memory.layout.json',
  console: 'console.log',
  errorLog: 'qemu.log',
  pid: 'pid',
  qmp: 'qmp',
  /** The control socket for fencing. `fenceMachines` repeats this file name and those of `pid`, `qmp` and `fenced`. */
  guard: 'guard',
  /** A file that exists while the machine is paused because its host was fenced. */
  fenced: 'fenced',
  serial: 'serial',
  vnc: 'vnc',
  /** The socket of the channel to the guest agent. */
  agent: 'agent',
  /** A file that exists while the guest's file systems are frozen and must be thawed later. */
  frozen: 'frozen',
  moving: 'moving',
  /** The host ports that are forwarded to the guest. */
  forwards: 'forwards.json',
  /** The boot id of the host at the last start of the machine. */
  hostBoot: 'host-boot',
  /** The guest's metadata, which the metadata service returns. */
  metadata: 'story.json',
  /** The machine's virtual CPU. */
  cpu: 'cpu.json',
  /** The numbers of the machine's dedicated cores. */
  cores: 'cores',
  /** The id of the image that backs the root disk. */
  rootImage: 'root.image',
  rescueImage: 'rescue.image',
  /** The id of the latest cold migration to or from this host. Disks from an older migration are stale. */
  coldMigrationId: 'move',
  /** A file that exists while the machine waits for its memory from another host. */
  arriving: 'arriving',
  /**
   * The sockets that send and receive disks. Socket names have at most six letters, because their paths must be short.
   */
  mirror: 'mirror',
  export: 'export',
} as const;

/** The files that are stored with the disks, possibly on shared storage. All other files are local. */
const DISK_STORAGE_FILES: ReadonlySet<MachineFile> = new Set<MachineFile>([
  ...(['root', 'rootBase', 'rootImage', 'cdrom', 'kernel', 'ramdisk', 'commandLine'] as const),
  ...(['firmwareVariables', 'tpm2State', 'tpm1State', 'configDrive'] as const),
  ...(['rescue', 'rescueBase', 'rescueImage', 'rescueCdrom'] as const),
  ...(['rescueKernel', 'rescueRamdisk', 'rescueCommandLine', 'rescueConfigDrive'] as const),
]);

/** The maximum size of a console log, in bytes. */
const MAX_CONSOLE_BYTES = 2 ** 20;

export type MachineFile = keyof typeof FILE_NAMES;

/** Changes the owner of a file or folder to the user that runs QEMU. */
export async function changeOwner(path: string, runAs: RunAs | undefined): Promise<void> {
  if (runAs) await chown(path, runAs.uid, runAs.gid);
}

export class MachineFolder implements ProcessFolder {
  readonly path: string;
  readonly #diskPath: string;
  readonly #runAs: RunAs | undefined;

  /** @param diskPath the folder of the machine's disks on shared storage; default: `path` */
  constructor(path: string, runAs: RunAs | undefined, diskPath = path) {
    this.path = path;
    this.#diskPath = diskPath;
    this.#runAs = runAs;
  }

  file(name: MachineFile): string {
    return join(DISK_STORAGE_FILES.has(name) ? this.#diskPath : this.path, FILE_NAMES[name]);
  }

  /** The files that a machine's process leaves behind when it is killed. */
  get staleFiles(): readonly string[] {
    return (
      ['pid', 'qmp', 'guard', 'fenced', 'serial', 'vnc', 'agent', 'frozen', 'moving', 'mirror', 'export'] as const
    ).map((name) => this.file(name));
  }

  /** Returns the path of an ephemeral or swap disk. */
  disk(name: string): string {
    return join(this.#diskPath, `${name}.qcow2`);
  }

  /** Returns the path of the disk copy that is uploaded as an image. */
  snapshotPath(imageId: string): string {
    return join(this.path, `snapshot-${imageId}`);
  }

  /** Creates the machine folder, accessible only to the user that runs QEMU. */
  async createFolder(): Promise<void> {
    for (const path of new Set([this.path, this.#diskPath])) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await this.changeOwner(path);
    }
  }

  /** Returns true if any host has created disks for the machine on shared storage. */
  async hasSharedDisks(): Promise<boolean> {
    if (this.#diskPath === this.path) return false;
    return stat(this.#diskPath).then(
      () => true,
      () => false,
    );
  }

  /** Changes the owner of a file or folder to the user that runs QEMU. */
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

  /** Removes all files of the machine. The local folder is removed last, because it marks that the machine exists. */
  async remove(): Promise<void> {
    await rm(this.#diskPath, { recursive: true, force: true });
    await this.removeLocal();
  }

  /** Removes the machine's local files. Disks on shared storage are kept. */
  async removeLocal(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** Returns the end of the console log, up to the maximum size. */
  async readConsole(): Promise<string> {
    const path = this.file('console');
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size === 0) return '';
    const file = await open(path, 'r');
    try {
      const length = Math.min(size, MAX_CONSOLE_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /**
   * Discards the beginning of the console log when the log exceeds twice the maximum size. QEMU continues to append
   * output.
   */
  async truncateConsole(): Promise<void> {
    const path = this.file('console');
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size <= 2 * MAX_CONSOLE_BYTES) return;
    const logEnd = await this.readConsole();
    await truncate(path, 0);
    const file = await open(path, 'a');
    try {
      await file.writeFile(logEnd);
    } finally {
      await file.close();
    }
  }
}
