import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { claimDirectory } from './claim-directory.js';
import { parseCpuOptions } from './cpu/cpu-options.js';
import { HostCpus } from './cpu/host-cpus.js';
import { parseForward } from './forwards/forward-rule.js';
import { Forwards } from './forwards/forwards.js';
import { Host } from './host.js';
import { resumeWhenSpaceIsFree } from './machine/full-disks.js';
import { readStorageId } from './machine/shared-storage.js';
import { openBridgeMode } from './network/bridge-mode.js';
import type { MachineFolders } from './network/network-mode.js';
import { DEFAULT_TUNNEL_PORT, DEFAULT_WIREGUARD_PORT } from './network/tunnels.js';
import { createUserMode } from './network/user-mode.js';
import { canUseVhost } from './network/vhost-net.js';
import type { QemuOptions } from './options.js';
import { type AccelerationProbe, findKvmGroup, probeAcceleration } from './programs/acceleration.js';
import { findProgram } from './programs/find-program.js';
import { type RunAs, runProgram } from './programs/run-program.js';
import { QemuError } from './qemu-error.js';
import { DirectoryBackend } from './volumes/directory-backend.js';
import { LvmBackend, parseThinPool } from './volumes/lvm-backend.js';
import type { VolumeBackend } from './volumes/volume-backend.js';

const UNPRIVILEGED_UID = 65_534;

/** The maximum length of the directory's path. Socket paths, which Linux limits to 107 bytes, add an id and a name. */
const MAX_DIRECTORY_BYTES = 55;

/** The folders that are created in `sharedDirectory`. */
const SHARED_FOLDERS = ['machines', 'images'];
const HOST_FOLDERS = ['machines', 'images', 'volumes', 'contents', 'far'];

const DEFAULT_SHUTDOWN_MS = 60_000;
const DEFAULT_DISK_WAIT_MS = 120_000;

async function selectRunAs(options: QemuOptions): Promise<RunAs | undefined> {
  if (options.runAs) return options.runAs;
  if (process.getuid?.() !== 0) return undefined;
  return {
    uid: UNPRIVILEGED_UID,
    gid: (options.acceleration === 'tcg' ? undefined : await findKvmGroup()) ?? UNPRIVILEGED_UID,
  };
}

/** Creates the directory and its folders, and checks that the user that runs QEMU can reach them. */
async function prepareDirectory(path: string, folders: readonly string[], runAs: RunAs | undefined): Promise<string> {
  const directory = resolve(path);
  const createError = (reason: string) =>
    new QemuError('DIRECTORY_UNUSABLE', `the directory ${directory} cannot hold machines: ${reason}`);
  if (folders === HOST_FOLDERS && Buffer.byteLength(directory) > MAX_DIRECTORY_BYTES)
    throw createError(`its path has more than ${MAX_DIRECTORY_BYTES} bytes, which is too long for Unix sockets in it`);
  if (directory.includes(',')) throw createError('QEMU does not support paths with a comma');
  try {
    for (const folder of [directory, ...folders.map((name) => join(directory, name))])
      await mkdir(folder, { recursive: true, mode: runAs ? 0o711 : 0o700 });
  } catch (error) {
    throw createError((error as Error).message);
  }
  if (!runAs) return directory;
  for (let folder = directory; ; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    if (uid !== runAs.uid && (mode & 0o001) === 0)
      throw createError(
        `machines run as user ${runAs.uid}, which cannot traverse ${folder}: run chmod o+x, or use another directory`,
      );
    if (folder === dirname(folder)) return directory;
  }
}

/** Returns true if QEMU supports `-sandbox`, which old and minimal builds do not. */
async function supportsSandbox(program: string, runAs: RunAs | undefined): Promise<boolean> {
  const helpText = await runProgram(program, ['-help'], { runAs, timeoutMs: 10_000 });
  return /^-sandbox on/m.test(helpText);
}

/** The directories, programs and acceleration with which this computer runs virtual machines. */
export interface HostCapabilities {
  readonly directory: string;
  readonly sharedDirectory: string | undefined;
  readonly program: string;
  readonly qemuImg: string;
  readonly runAs: RunAs | undefined;
  readonly probe: AccelerationProbe;
}

/**
 * Checks that this computer can run virtual machines, and creates the directories.
 *
 * @throws QemuError `QEMU_MISSING`, `DIRECTORY_UNUSABLE` or `ACCELERATION_MISSING`; the message states the fix
 */
export async function inspectComputer(options: QemuOptions): Promise<HostCapabilities> {
  const program = findProgram(options.program ?? 'qemu-system-x86_64', 'the package qemu-system-x86');
  const qemuImg = findProgram('qemu-img', 'the package qemu-utils');
  const runAs = await selectRunAs(options);
  const directory = await prepareDirectory(options.directory, HOST_FOLDERS, runAs);
  const { sharedDirectory: sharedPath } = options;
  const sharedDirectory =
    sharedPath === undefined ? undefined : await prepareDirectory(sharedPath, SHARED_FOLDERS, runAs);
  const probe = await probeAcceleration(program, options.acceleration ?? 'auto', runAs);
  return { directory, sharedDirectory, program, qemuImg, runAs, probe };
}

/** Opens the storage of volumes; undefined if another host stores them. */
async function openBackend(
  { directory, qemuImg, runAs }: Pick<HostCapabilities, 'directory' | 'qemuImg' | 'runAs'>,
  { volumes = true, volumePool }: QemuOptions,
): Promise<VolumeBackend | undefined> {
  if (!volumes) return undefined;
  const folder = join(directory, 'contents');
  const programs = { qemuImg, run: { runAs } };
  return volumePool === undefined
    ? new DirectoryBackend(folder, programs)
    : LvmBackend.open(folder, parseThinPool('qemuDriver()', volumePool), programs);
}

function createForwards({ forward = [], forwardAddress = '127.0.0.1', log = () => {} }: QemuOptions): Forwards {
  return new Forwards({ rules: forward.map(parseForward), address: forwardAddress, log });
}

/** Opens this computer as a compute host. Throws like {@link inspectComputer}, and QemuError `CPU_UNAVAILABLE`. */
export async function openHost(options: QemuOptions, services: DriverServices): Promise<Host> {
  const { probe, ...computer } = await inspectComputer(options);
  const { acceleration } = probe;
  const cpus = await HostCpus.open({ ...computer, acceleration }, parseCpuOptions('qemuDriver()', options));
  if (services.hosts) await claimDirectory(computer.directory, services.hosts.self);
  const { log = () => {} } = options;
  const network =
    options.networkMode === 'bridge'
      ? await openBridgeMode({
          ...computer,
          vhost: await canUseVhost({ enabled: options.vhostNet ?? true, acceleration, runAs: computer.runAs }, log),
          networks: services.networks,
          hosts: services.hosts,
          tunnelPort: options.tunnelPort ?? DEFAULT_TUNNEL_PORT,
          wireguardPort:
            options.tunnelEncryption === 'wireguard' ? (options.wireguardPort ?? DEFAULT_WIREGUARD_PORT) : undefined,
          providerNetworks: options.providerNetworks ?? {},
          log,
        })
      : (folders: MachineFolders) => createUserMode(createForwards(options), folders);
  const host = new Host({
    ...computer,
    services,
    acceleration,
    cpus,
    sandbox: await supportsSandbox(computer.program, computer.runAs),
    storage: computer.sharedDirectory && (await readStorageId(computer.sharedDirectory)),
    volumeBackend: await openBackend(computer, options),
    network,
    log,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? DEFAULT_SHUTDOWN_MS,
    diskWaitMs: options.diskWaitMs ?? DEFAULT_DISK_WAIT_MS,
    imageCacheBytes: options.imageCacheGib && options.imageCacheGib * 2 ** 30,
    moveBytesPerSecond: options.moveMibPerSecond && options.moveMibPerSecond * 2 ** 20,
  });
  await host.diskTools.cache.cleanUp();
  await host.volumes.recover();
  await host.frozenGuests.recover((await host.machineIds()).map((id) => host.folderOf(id)));
  host.watchConsoles();
  resumeWhenSpaceIsFree(host, computer.sharedDirectory ?? computer.directory, log);
  return host;
}
