import { EventEmitter } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { createPassthroughCpu, type HostCpus } from './cpu/host-cpus.js';
import { ProcessGuard } from './fence/process-guard.js';
import { writeConfigDrive } from './guest/config-drive.js';
import { GuestFreeze } from './guest/guest-freeze.js';
import { type GuestInterface, readGuestInterface } from './guest/guest-networks.js';
import type { GuestSecrets } from './guest/meta-data.js';
import { ImageCache } from './images/image-cache.js';
import { connectNics } from './machine/connect-nics.js';
import { saveBootId } from './machine/host-boot.js';
import { limitDisks } from './machine/limit-disks.js';
import { Machine } from './machine/machine.js';
import { saveCpu } from './machine/machine-cpu.js';
import { changeOwner, MachineFolder } from './machine/machine-folder.js';
import type { MachineLayout } from './machine/machine-layout.js';
import type { DiskTools } from './machine/prepare-disks.js';
import { enableMemoryReports } from './machine/report-memory.js';
import { retryWhileLocked } from './machine/retry-while-locked.js';
import { createShape } from './machine/shape-of.js';
import type { OngoingMove } from './moves/ongoing-move.js';
import type { MachineFolders, NetworkMode } from './network/network-mode.js';
import type { Acceleration } from './programs/acceleration.js';
import type { RunAs } from './programs/run-program.js';
import type { QmpClient } from './qmp/qmp-client.js';
import { Processors } from './tuning/processors.js';
import { tuningOf } from './tuning/tuning.js';
import { noVolumes } from './volumes/no-volumes.js';
import { openVolumes } from './volumes/open-volumes.js';
import { RemoteVolumes } from './volumes/remote-volumes.js';
import type { VolumeAccess } from './volumes/volume-access.js';
import type { VolumeBackend } from './volumes/volume-backend.js';
import { VolumeStore } from './volumes/volume-store.js';

/** The components and settings of a host, after all defaults are applied. */
export interface HostParts {
  readonly directory: string;
  /** The directory for disks and images on shared storage, and the id of that storage. */
  readonly sharedDirectory: string | undefined;
  readonly storage: string | undefined;
  readonly services: DriverServices;
  readonly program: string;
  readonly qemuImg: string;
  readonly acceleration: Acceleration;
  readonly cpus: HostCpus;
  readonly sandbox: boolean;
  readonly runAs: RunAs | undefined;
  /** The storage of volumes; undefined if another host stores them. */
  readonly volumeBackend: VolumeBackend | undefined;
  /** Creates the network mode, which connects the machines' interfaces. */
  readonly network: (folders: MachineFolders) => NetworkMode;
  readonly log: (line: string) => void;
  readonly shutdownTimeoutMs: number;
  /** The maximum time to wait for disks that another process has open, in milliseconds. */
  readonly diskWaitMs: number;
  /** The maximum size of the image cache in bytes; default: half of the file system. */
  readonly imageCacheBytes: number | undefined;
  /** The maximum bandwidth of a live migration; default: unlimited. */
  readonly moveBytesPerSecond: number | undefined;
}

/** The interval between checks of the console logs' sizes. */
const CONSOLE_CHECK_INTERVAL_MS = 60_000;

/** This computer as a compute host, with its virtual machines. */
export class Host implements MachineFolders {
  readonly parts: HostParts;
  readonly diskTools: DiskTools;
  readonly volumes: VolumeAccess;
  /** The store of volume content; undefined if this computer stores none. */
  readonly localVolumes: VolumeStore | undefined;
  readonly networks: NetworkMode;
  readonly processors: Processors;
  readonly frozenGuests = new GuestFreeze();
  readonly guard: ProcessGuard;
  /**
   * The client of each serial console, by server id. A console has only one client, because QEMU sends the output to
   * only one.
   */
  readonly serialReaders = new Map<string, Socket>();
  /** Outgoing and incoming live migrations by server id. */
  readonly moves = new Map<string, OngoingMove>();
  readonly arrivals = new Map<string, Promise<boolean>>();
  readonly #closing = new AbortController();
  #consoleTimer: NodeJS.Timeout | undefined;
  #truncation: Promise<void> | undefined;
  readonly #machines = new Map<string, Machine>();
  readonly #powerChanges = new EventEmitter<{ change: [string] }>();

  constructor(parts: HostParts) {
    const { directory, sharedDirectory, services, qemuImg, runAs, volumeBackend, network, imageCacheBytes } = parts;
    this.parts = parts;
    this.guard = new ProcessGuard(parts);
    const { images } = services;
    const isShared = sharedDirectory !== undefined;
    const folder = join(sharedDirectory ?? directory, 'images');
    const cache = new ImageCache({ folder, shared: isShared, images, qemuImg, runAs, maxBytes: imageCacheBytes });
    this.diskTools = { cache, images, qemuImg, run: { runAs } };
    this.processors = new Processors(async () => (await this.machineIds()).map((id) => this.machine({ id }).folder));
    const changeFileOwner = (path: string) => changeOwner(path, runAs);
    const { hosts } = services;
    this.localVolumes = volumeBackend
      ? new VolumeStore({
          directory,
          backend: volumeBackend,
          tools: this.diskTools,
          runAs,
          volumes: services.volumes,
        })
      : undefined;
    const local = this.localVolumes;
    this.volumes = hosts
      ? new RemoteVolumes({ directory, hosts, local, changeOwner: changeFileOwner })
      : (local ?? noVolumes);
    this.networks = network(this);
  }

  /** Returns the ids of the servers that have a machine folder on this host. */
  machineIds(): Promise<string[]> {
    return readdir(join(this.parts.directory, 'machines'));
  }

  folderOf(serverId: string): MachineFolder {
    return this.machine({ id: serverId }).folder;
  }

  /** Returns a server's machine, whether or not it is running. */
  machine({ id }: Pick<Server, 'id'>): Machine {
    const cachedMachine = this.#machines.get(id);
    if (cachedMachine) return cachedMachine;
    const { directory, sharedDirectory, program, runAs, sandbox } = this.parts;
    const diskFolder = sharedDirectory && join(sharedDirectory, 'machines', id);
    const folder = new MachineFolder(join(directory, 'machines', id), runAs, diskFolder);
    const processOptions = { program, runAs, sandbox, checkRunning: () => this.guard.checkRunning() };
    const machine = new Machine(folder, processOptions, () => this.#powerChanges.emit('change', id));
    this.#machines.set(id, machine);
    return machine;
  }

  /**
   * Calls the listener with the id of a server whose power state may have changed. Returns a function to unsubscribe.
   */
  onPowerChange(listener: (serverId: string) => void): () => void {
    this.#powerChanges.on('change', listener);
    return () => this.#powerChanges.off('change', listener);
  }

  /** Starts a server's machine with the disks in the machine's folder. No-op if the machine is running. */
  async start(
    server: Server,
    signal: AbortSignal,
    flavor: FlavorCopy = server.flavor,
    incoming?: MachineLayout,
  ): Promise<QmpClient> {
    const machine = this.machine(server);
    const qmp = (await machine.connectIfRunning()) ?? (await this.#launch(machine, server, signal, flavor, incoming));
    try {
      await this.#completeStart(machine, server, qmp, flavor);
    } catch (error) {
      if (!signal.aborted) await machine.powerOff();
      throw error;
    }
    return qmp;
  }

  /** Completes the configuration of a paused machine that this or an earlier process has started, and resumes it. */
  async #completeStart(
    { folder }: Machine,
    { id, imageProperties }: Server,
    qmp: QmpClient,
    flavor: FlavorCopy,
  ): Promise<void> {
    const { status } = await qmp.execute<{ status: string }>('query-status');
    if (status !== 'prelaunch' && status !== 'inmigrate') return;
    const tuning = tuningOf(flavor, imageProperties);
    if (tuning.diskLimits) await limitDisks(qmp, tuning.diskLimits);
    await this.processors.assign(id, folder, qmp, tuning);
    await enableMemoryReports(qmp);
    if (status === 'prelaunch') await qmp.execute('cont');
  }

  async #launch(
    machine: Machine,
    server: Server,
    signal: AbortSignal,
    flavor: FlavorCopy,
    incoming: MachineLayout | undefined,
  ): Promise<QmpClient> {
    const { acceleration, cpus } = this.parts;
    const cpu = incoming ? (incoming.cpu ?? createPassthroughCpu(acceleration)) : cpus.guest;
    const shape = await createShape(server, flavor, {
      folder: machine.folder,
      acceleration,
      cpu,
      nics: await connectNics(this, server, server.interfaces, { starting: true, flavor, incoming }),
      ...(await openVolumes(this.volumes, server)),
    });
    await machine.folder.truncateConsole();
    await saveBootId(machine.folder);
    await saveCpu(machine.folder, cpu);
    return retryWhileLocked(() => machine.start(shape, signal, incoming), this.parts.diskWaitMs, signal);
  }

  /** Shuts down the guest, and powers off the machine if the guest does not shut down in time. */
  async stop(server: Server, signal: AbortSignal, timeoutMs = this.parts.shutdownTimeoutMs): Promise<void> {
    const machine = this.machine(server);
    if (!(await machine.shutDown(timeoutMs, signal))) await machine.powerOff();
  }

  async interfaces(server: Server, serverInterfaces = server.interfaces): Promise<readonly GuestInterface[]> {
    const { networks } = this.parts.services;
    return Promise.all(
      serverInterfaces.map((serverInterface) => readGuestInterface(networks, server, serverInterface)),
    );
  }

  async writeConfigDrive(
    server: Server,
    secrets: GuestSecrets,
    signal: AbortSignal,
    name: 'configDrive' | 'rescueConfigDrive' = 'configDrive',
  ): Promise<void> {
    const { qemuImg, runAs } = this.parts;
    const { folder } = this.machine(server);
    const metadata = { server, secrets, interfaces: await this.interfaces(server) };
    await writeConfigDrive(metadata, folder, name, qemuImg, { runAs, signal });
  }

  /** Returns true if this host and the named one store machine disks on the same shared storage. */
  async sharesStorageWith(name: string): Promise<boolean> {
    const { storage, services } = this.parts;
    return storage !== undefined && (await services.hosts?.storageOf(name)) === storage;
  }

  /** Removes a server's machine with all its files, and then removes unused images. */
  async remove(server: Server): Promise<void> {
    await this.#remove(server, (folder) => folder.remove());
  }

  /** Removes this host's files of a server that now runs on another host. Keeps shared disks. */
  async removeLocalCopy(name: string | null, server: Server): Promise<void> {
    await this.#remove(server, async (folder) => {
      if (name !== null && (await this.sharesStorageWith(name))) await folder.removeLocal();
      else await folder.remove();
    });
  }

  async #remove(server: Server, removeFiles: (folder: MachineFolder) => Promise<void>): Promise<void> {
    const machine = this.machine(server);
    await this.moves.get(server.id)?.close();
    this.frozenGuests.discardState(machine.folder);
    await machine.powerOff();
    for (const { volumeId } of server.blockDevices)
      if (volumeId !== null) await this.volumes.close(server.id, volumeId);
    await this.processors.release(server.id, machine.folder);
    await removeFiles(machine.folder);
    await this.networks.release(server.id);
    this.#machines.delete(server.id);
    await this.diskTools.cache.cleanUp();
  }

  /** Truncates console logs periodically, because guests can run for years. */
  watchConsoles(periodMs = CONSOLE_CHECK_INTERVAL_MS): void {
    this.#consoleTimer = setInterval(() => {
      this.#truncation ??= this.#truncateConsoles().finally(() => {
        this.#truncation = undefined;
      });
    }, periodMs).unref();
  }

  async #truncateConsoles(): Promise<void> {
    for (const id of await this.machineIds().catch(() => []))
      await this.machine({ id })
        .folder.truncateConsole()
        .catch(() => {});
  }

  /** A signal that is aborted when the host closes. It stops tasks that would otherwise never end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Stops all tasks of the host and disconnects from its machines, which continue to run. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the host is closing'));
    this.guard.disconnect();
    clearInterval(this.#consoleTimer);
    await this.#truncation;
    for (const move of this.moves.values()) await move.close();
    await this.frozenGuests.close();
    await this.volumes.stop();
    await this.networks.close();
    for (const machine of this.#machines.values()) machine.disconnect();
    this.#machines.clear();
  }
}
