import { EventEmitter } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { writeConfigDrive } from './guest/config-drive.js';
import { type GuestInterface, guestInterface } from './guest/guest-networks.js';
import type { GuestSecrets } from './guest/meta-data.js';
import { QuietGuests } from './guest/quiet-guests.js';
import { ImageCache } from './images/image-cache.js';
import { limitDisks } from './machine/limit-disks.js';
import { Machine } from './machine/machine.js';
import { giveTo, MachineFolder } from './machine/machine-folder.js';
import type { MachineLayout } from './machine/machine-layout.js';
import type { NicShape, VolumeShape } from './machine/machine-shape.js';
import type { DiskTools } from './machine/prepare-disks.js';
import { nicShape, shapeOf } from './machine/shape-of.js';
import { untilFree } from './machine/until-free.js';
import type { OngoingMove } from './moves/ongoing-move.js';
import type { MachinePlaces, NetworkMode } from './network/network-mode.js';
import type { NetworkBackend } from './network/user-network.js';
import type { Acceleration } from './programs/acceleration.js';
import type { RunAs } from './programs/run-program.js';
import type { QmpClient } from './qmp/qmp-client.js';
import { Processors } from './tuning/processors.js';
import { tuningOf } from './tuning/tuning.js';
import { FarVolumes } from './volumes/far-volumes.js';
import { noVolumes } from './volumes/no-volumes.js';
import type { VolumeAccess } from './volumes/volume-access.js';
import { VolumeStore } from './volumes/volume-store.js';

/** What a host is made of, with every default decided on. */
export interface HostParts {
  readonly directory: string;
  /** Folder of disks and images that hosts share, and the name of the storage that it is on. */
  readonly sharedDirectory: string | undefined;
  readonly storage: string | undefined;
  readonly services: DriverServices;
  readonly program: string;
  readonly qemuImg: string;
  readonly acceleration: Acceleration;
  readonly sandbox: boolean;
  readonly runAs: RunAs | undefined;
  readonly volumesAllowed: boolean;
  /** What interfaces lead to. */
  readonly network: (places: MachinePlaces) => NetworkMode;
  readonly shutdownTimeoutMs: number;
  /** How long it is waited for disks that somebody else has open. */
  readonly diskWaitMs: number;
  /** Undefined: half of the file system. */
  readonly imageCacheBytes: number | undefined;
  /** Undefined: there is no bound. */
  readonly moveBytesPerSecond: number | undefined;
}

/** How often it is looked whether consoles have printed too much. */
const CONSOLES_MS = 60_000;

/** Device paths are shorter; those with more letters come later. */
const MAX_DEVICE_NAME = 32;

/** This computer, with the machines that run on it: what all work on machines is done with. */
export class Host implements MachinePlaces {
  readonly parts: HostParts;
  readonly disks: DiskTools;
  readonly volumes: VolumeAccess;
  /** The content of volumes, where it is on this computer. */
  readonly kept: VolumeStore | undefined;
  readonly networks: NetworkMode;
  readonly processors: Processors;
  readonly quietGuests = new QuietGuests();
  /** Those who read serial lines: one for each, for what a line says is said once. */
  readonly serialReaders = new Map<string, Socket>();
  /** Machines on their way to other hosts, and those that come from there, by server. */
  readonly moves = new Map<string, OngoingMove>();
  readonly arrivals = new Map<string, Promise<boolean>>();
  readonly #leaving = new AbortController();
  #consoles: NodeJS.Timeout | undefined;
  #bounding: Promise<void> | undefined;
  readonly #machines = new Map<string, Machine>();
  readonly #powerChanges = new EventEmitter<{ change: [string] }>();

  constructor(parts: HostParts) {
    const { directory, sharedDirectory, services, qemuImg, runAs, volumesAllowed, network, imageCacheBytes } = parts;
    this.parts = parts;
    const { images } = services;
    const shared = sharedDirectory !== undefined;
    const folder = join(sharedDirectory ?? directory, 'images');
    const cache = new ImageCache({ folder, shared, images, qemuImg, runAs, maxBytes: imageCacheBytes });
    this.disks = { cache, images, qemuImg, run: { runAs } };
    this.processors = new Processors(async () => (await this.machineIds()).map((id) => this.machine({ id }).folder));
    const give = (path: string) => giveTo(path, runAs);
    const { hosts } = services;
    this.kept = volumesAllowed
      ? new VolumeStore({ directory, tools: this.disks, runAs, volumes: services.volumes })
      : undefined;
    this.volumes = this.kept ?? (hosts ? new FarVolumes({ directory, hosts, give }) : noVolumes);
    this.networks = network(this);
  }

  /** Ids of the servers that have a folder here. */
  machineIds(): Promise<string[]> {
    return readdir(join(this.parts.directory, 'machines'));
  }

  folderOf(serverId: string): MachineFolder {
    return this.machine({ id: serverId }).folder;
  }

  /** The machine of a server, whether it is there or not. */
  machine({ id }: Pick<Server, 'id'>): Machine {
    const known = this.#machines.get(id);
    if (known) return known;
    const { directory, sharedDirectory, program, runAs, sandbox } = this.parts;
    const disks = sharedDirectory && join(sharedDirectory, 'machines', id);
    const folder = new MachineFolder(join(directory, 'machines', id), runAs, disks);
    const machine = new Machine(folder, { program, runAs, sandbox }, () => this.#powerChanges.emit('change', id));
    this.#machines.set(id, machine);
    return machine;
  }

  /** Calls the listener with the id of a server whose machine may have ended. Returns a function that ends the calls. */
  onPowerChange(listener: (serverId: string) => void): () => void {
    this.#powerChanges.on('change', listener);
    return () => this.#powerChanges.off('change', listener);
  }

  /** Runs the machine of a server with the disks that its folder holds, unless it runs. */
  async start(
    server: Server,
    signal: AbortSignal,
    flavor: FlavorCopy = server.flavor,
    incoming?: MachineLayout,
  ): Promise<QmpClient> {
    const machine = this.machine(server);
    const qmp = (await machine.running()) ?? (await this.#begin(machine, server, signal, flavor, incoming));
    try {
      await this.#settle(machine, server, qmp, flavor);
    } catch (error) {
      if (!signal.aborted) await machine.end();
      throw error;
    }
    return qmp;
  }

  /** Lets a machine go that rests since it was begun, by us or by somebody who died, with all that it is to have. */
  async #settle(
    { folder }: Machine,
    { id, imageProperties }: Server,
    qmp: QmpClient,
    flavor: FlavorCopy,
  ): Promise<void> {
    const { status } = await qmp.execute<{ status: string }>('query-status');
    if (status !== 'prelaunch' && status !== 'inmigrate') return;
    const tuning = tuningOf(flavor, imageProperties);
    if (tuning.diskLimits) await limitDisks(qmp, tuning.diskLimits);
    await this.processors.give(id, folder, qmp, tuning);
    if (status === 'prelaunch') await qmp.execute('cont');
  }

  async #begin(
    machine: Machine,
    server: Server,
    signal: AbortSignal,
    flavor: FlavorCopy,
    incoming: MachineLayout | undefined,
  ): Promise<QmpClient> {
    const { acceleration } = this.parts;
    const shape = await shapeOf(server, flavor, {
      folder: machine.folder,
      acceleration,
      nics: await this.nics(server, server.interfaces, true),
      ...(await this.#openVolumes(server)),
    });
    await machine.folder.boundConsole();
    return untilFree(() => machine.start(shape, signal, incoming), this.parts.diskWaitMs, signal);
  }

  /** Has all volumes of a server served, in the order of their devices. */
  async #openVolumes(server: Server): Promise<{ bootVolume: VolumeShape | null; volumes: readonly VolumeShape[] }> {
    const place = ({ device }: { device: string }) => device.padStart(MAX_DEVICE_NAME);
    const devices = [...server.blockDevices].sort((a, b) => (place(a) < place(b) ? -1 : 1));
    const volumes: VolumeShape[] = [];
    let bootVolume: VolumeShape | null = null;
    for (const { volumeId, destination, bootIndex } of devices) {
      if (volumeId === null || destination !== 'volume') continue;
      const volume = await this.volumes.open(server, volumeId);
      if (bootIndex === 0) bootVolume = volume;
      else volumes.push(volume);
    }
    return { bootVolume, volumes };
  }

  /** Has the guest end by itself, and ends it where it does not. */
  async stop(server: Server, signal: AbortSignal, timeoutMs = this.parts.shutdownTimeoutMs): Promise<void> {
    const machine = this.machine(server);
    if (!(await machine.shutDown(timeoutMs, signal))) await machine.end();
  }

  async interfaces(server: Server, which = server.interfaces): Promise<readonly GuestInterface[]> {
    const { networks } = this.parts.services;
    return Promise.all(which.map((one) => guestInterface(networks, server, one)));
  }

  /** Interfaces of a server as its machine has them, with what they lead to. */
  async nics(server: Server, which: Server['interfaces'], starting = false): Promise<readonly NicShape[]> {
    const interfaces = await this.interfaces(server, which);
    const backends = await this.networks.connect(server, interfaces, starting);
    const tuning = tuningOf(server.flavor, server.imageProperties);
    return interfaces.map((one, index) => nicShape(one, tuning, backends[index] as NetworkBackend));
  }

  async writeConfigDrive(
    server: Server,
    secrets: GuestSecrets,
    signal: AbortSignal,
    name: 'configDrive' | 'rescueConfigDrive' = 'configDrive',
  ): Promise<void> {
    const { qemuImg, runAs } = this.parts;
    const { folder } = this.machine(server);
    const story = { server, secrets, interfaces: await this.interfaces(server) };
    await writeConfigDrive(story, folder, name, qemuImg, { runAs, signal });
  }

  /** Whether the disks of machines are on storage that another host has them on, too. */
  async shares(name: string): Promise<boolean> {
    const { storage, services } = this.parts;
    return storage !== undefined && (await services.hosts?.storageOf(name)) === storage;
  }

  /** Removes everything of a server, and images that nobody needs any more. */
  async remove(server: Server): Promise<void> {
    await this.#remove(server, (folder) => folder.remove());
  }

  /** Removes what a server has here, which lives on another host: disks that are that host's as well stay. */
  async leaveTo(name: string | null, server: Server): Promise<void> {
    await this.#remove(server, async (folder) => {
      if (name !== null && (await this.shares(name))) await folder.removeHere();
      else await folder.remove();
    });
  }

  async #remove(server: Server, files: (folder: MachineFolder) => Promise<void>): Promise<void> {
    const machine = this.machine(server);
    await this.moves.get(server.id)?.leave();
    this.quietGuests.forget(machine.folder);
    await machine.end();
    for (const { volumeId } of server.blockDevices)
      if (volumeId !== null) await this.volumes.close(server.id, volumeId);
    await this.processors.takeBack(server.id, machine.folder);
    await files(machine.folder);
    await this.networks.release(server.id);
    this.#machines.delete(server.id);
    await this.disks.cache.sweep();
  }

  /** Keeps bounding what consoles print, also of guests that run for years. */
  watchConsoles(periodMs = CONSOLES_MS): void {
    this.#consoles = setInterval(() => {
      this.#bounding ??= this.#boundConsoles().finally(() => {
        this.#bounding = undefined;
      });
    }, periodMs).unref();
  }

  async #boundConsoles(): Promise<void> {
    for (const id of await this.machineIds().catch(() => []))
      await this.machine({ id })
        .folder.boundConsole()
        .catch(() => {});
  }

  /** Ends when the host is left, with all that nobody else ends. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Lets go of all machines, which go on. */
  async leave(): Promise<void> {
    this.#leaving.abort(new Error('the host is being left'));
    clearInterval(this.#consoles);
    await this.#bounding;
    for (const move of this.moves.values()) await move.leave();
    await this.quietGuests.leave();
    await this.volumes.leave();
    await this.networks.leave();
    for (const machine of this.#machines.values()) machine.leave();
    this.#machines.clear();
  }
}
