import type { Duplex } from 'node:stream';
import type { ImageContent } from '@apistrata/catalogs';
import type { Caller, Server } from '../model/index.js';
import type { EngineObserver } from '../observation/observer.js';
import type {
  ConsoleEndpoint,
  Diagnostics,
  Driver,
  DriverVerb,
  DriverWork,
  MoveProgress,
  Obstacle,
  WorkOrigin,
} from './driver.js';
import type { HostPowerAction } from './host-control.js';

/** The job that an order is part of. */
export interface MachineJob {
  readonly id: string;
  /** Which attempt of it; left out by processes of earlier versions. */
  readonly attempt?: number;
  /** It goes on beside others on the same server, and does not own it. */
  readonly beside: boolean;
}

/** An order to the machine of a server: plain data, with all that whoever carries it out needs to know. */
export interface MachineOrder {
  readonly work: DriverWork;
  /** The server as it is when the order is given. */
  readonly server: Server;
  readonly origin: WorkOrigin;
  /** Left out where a request waits for it. */
  readonly job?: MachineJob;
}

/** A snapshot that was made and is to become the content of an image. */
export interface SnapshotOrder {
  readonly server: Server;
  readonly imageId: string;
  /** In whose name the image service is spoken to. */
  readonly caller: Caller;
  readonly job?: MachineJob;
}

/**
 * The one way from the engine to machines. What is behind it may be a driver in this process or somebody who hands orders
 * on to the hosts: nobody else sees a difference. A host that does not answer throws the refusal that the API documents.
 */
export interface Machines {
  /** Carries an order out; `signal` ends when nobody waits for it any more. May be asked for the same once more. */
  perform(order: MachineOrder, signal: AbortSignal): Promise<void>;
  /** True when an order will be carried out without waiting for anything, so no state on the way is worth writing down. */
  isInstant(order: MachineOrder): boolean;
  /** True when there is nothing to do for an order: what comes of it may be written down before it is carried out. */
  nothingToDo(order: MachineOrder): boolean;
  /** False for work that the machine of this server cannot do; without a server, that no machine can. */
  supports(verb: DriverVerb, server?: Server): boolean;
  /** What keeps this one machine from doing something that its driver supports; null: nothing. */
  obstacle(verb: DriverVerb, server: Server): Promise<Obstacle | null>;
  /** False for a machine that cannot go to another host with its disks. */
  canMove(server: Server): boolean;
  /** The disk format of snapshots of a server; undefined: that of the image which it was made from. */
  snapshotFormat(server: Server): string | undefined;
  /** Gives what `snapshot` has saved to the image service: by `upload`, or at the host itself. */
  saveSnapshot(
    order: SnapshotOrder,
    upload: (content: ImageContent) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void>;
  consoleOutput(server: Server): Promise<string>;
  /** Null where nobody can tell, as for all that follows. */
  diagnostics(server: Server): Promise<Diagnostics | null>;
  /** How far the live migration of a server is. */
  moveProgress(server: Server): Promise<MoveProgress | null>;
  console(server: Server, type: string): Promise<ConsoleEndpoint | null>;
  /** Null where the console is not within reach of this process. */
  openConsole(server: Server, type: string): Promise<Duplex | null>;
  hostUptime(host: string): Promise<string | null>;
  /** Null where hosts cannot be switched. */
  hostPower(host: string, action: HostPowerAction): Promise<string | null>;
  /** False where there is no maintenance. */
  hostMaintenance(host: string, on: boolean): Promise<boolean>;
  cacheImages(host: string, imageIds: readonly string[]): Promise<void>;
}

/** The same machines under observation: how long work takes and how it ends. */
export function observedMachines(machines: Machines, { step, around }: EngineObserver): Machines {
  if (!step && !around) return machines;
  async function timed(order: MachineOrder, signal: AbortSignal): Promise<void> {
    const begunAt = performance.now();
    const tell = (outcome: 'done' | 'failed' | 'stopped') =>
      step?.({ verb: order.work.verb, outcome, ms: performance.now() - begunAt });
    try {
      await machines.perform(order, signal);
    } catch (error) {
      tell(signal.aborted ? 'stopped' : 'failed');
      throw error;
    }
    tell('done');
  }
  const perform: Machines['perform'] = around
    ? (order, signal) =>
        around({ type: 'step', verb: order.work.verb, serverId: order.server.id }, () => timed(order, signal))
    : timed;
  return { ...machines, perform };
}

/** The machines of a driver in this process. */
export function machinesOf(driver: Driver): Machines {
  return {
    perform: ({ work, server, origin }, signal) => driver.perform(work, server, signal, origin),
    isInstant: ({ work, server, origin }) => driver.instantly?.(work, server, origin) ?? false,
    nothingToDo: ({ work, server, origin }) => driver.nothingToDo?.(work, server, origin) ?? false,
    supports: (verb) => driver.supports?.(verb) ?? true,
    obstacle: async (verb, server) => (await driver.obstacle?.(verb, server)) ?? null,
    canMove: () => driver.canMove ?? true,
    snapshotFormat: () => driver.snapshotFormat,
    async saveSnapshot({ server, imageId }, upload) {
      await upload((await driver.snapshotContent?.(server, imageId)) ?? new Uint8Array());
    },
    consoleOutput: (server) => driver.consoleOutput(server),
    diagnostics: (server) => driver.diagnostics(server),
    moveProgress: async (server) => (await driver.moveProgress?.(server)) ?? null,
    console: (server, type) => driver.console(server, type),
    openConsole: async (server, type) => (await driver.openConsole?.(server, type)) ?? null,
    hostUptime: async (host) => (await driver.hostUptime?.(host)) ?? null,
    hostPower: async (host, action) => (await driver.hostPower?.(host, action)) ?? null,
    async hostMaintenance(host, on) {
      if (!driver.hostMaintenance) return false;
      await driver.hostMaintenance(host, on);
      return true;
    },
    cacheImages: async (host, imageIds) => driver.cacheImages?.(host, imageIds),
  };
}
