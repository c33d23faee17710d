import type { Duplex } from 'node:stream';
import type { ImageContent } from '@apistrata/catalogs';
import type { Caller, Server } from '../model/index.js';
import type { EngineObserver } from '../observation/observer.js';
import type { Driver, DriverVerb, DriverWork, WorkOrigin } from './driver.js';
import { createLocalQueries, type MachineQueries } from './machine-queries.js';

/** The job that a request to a machine belongs to. */
export interface MachineJob {
  readonly id: string;
  /** The attempt of the job; omitted by processes of earlier versions. */
  readonly attempt?: number;
  /** Whether the job runs concurrently with other jobs on the same server, without owning the server. */
  readonly concurrent: boolean;
}

/** A command for a server's machine: plain data with everything that the executing process needs. */
export interface MachineRequest {
  readonly work: DriverWork;
  /** The server at the time of the command. */
  readonly server: Server;
  readonly origin: WorkOrigin;
  /** The job that sends the command; undefined if an API request waits for the result. */
  readonly job?: MachineJob;
}

/** A completed snapshot, and the image to which its content is uploaded. */
export interface SnapshotUpload {
  readonly server: Server;
  readonly imageId: string;
  /** The caller on whose behalf the image service is called. */
  readonly caller: Caller;
  readonly job?: MachineJob;
}

/**
 * The only interface through which the engine controls machines. The implementation may be a driver in this process or
 * a client of host processes; callers see no difference. If a host does not respond, the documented API error is
 * thrown.
 */
export interface Machines extends MachineQueries {
  /**
   * Executes a command. `signal` is aborted when the result is no longer needed. May be repeated with the same command.
   */
  perform(request: MachineRequest, signal: AbortSignal): Promise<void>;
  /** Returns whether a command completes without waiting, so that intermediate states need not be stored. */
  isSynchronous(request: MachineRequest): boolean;
  /**
   * Returns false for commands that the machine of this server cannot execute or, if no server is given, for commands
   * that no machine can execute.
   */
  supports(verb: DriverVerb, server?: Server): boolean;
  /** Returns false if a machine and its disks cannot move to another host. */
  canMove(server: Server): boolean;
  /** Returns the disk format in which a server's snapshots are stored; undefined for the format of its image. */
  snapshotFormat(server: Server): string | undefined;
  /** Uploads the content of a snapshot to the image service, either with `upload` or from the host itself. */
  saveSnapshot(
    work: SnapshotUpload,
    upload: (content: ImageContent) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Opens a byte stream to a console. Returns null if this process cannot reach the console. */
  openConsole(server: Server, type: string): Promise<Duplex | null>;
  /** Starts downloading images to a host. Does not wait for downloads on other hosts. */
  cacheImages(host: string, imageIds: readonly string[]): Promise<void>;
}

/** Wraps machines so that an observer receives the duration and outcome of each command. */
export function observeMachines(machines: Machines, { step, around }: EngineObserver): Machines {
  if (!step && !around) return machines;
  async function performTimed(request: MachineRequest, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const reportOutcome = (outcome: 'done' | 'failed' | 'stopped') =>
      step?.({ verb: request.work.verb, outcome, ms: performance.now() - startedAt });
    try {
      await machines.perform(request, signal);
    } catch (error) {
      reportOutcome(signal.aborted ? 'stopped' : 'failed');
      throw error;
    }
    reportOutcome('done');
  }
  const perform: Machines['perform'] = around
    ? (request, signal) =>
        around({ type: 'step', verb: request.work.verb, serverId: request.server.id }, () =>
          performTimed(request, signal),
        )
    : performTimed;
  return { ...machines, perform };
}

/** Returns the machines that a driver in this process controls. */
export function createLocalMachines(driver: Driver): Machines {
  return {
    ...createLocalQueries(driver),
    async perform({ work, server, origin }, signal) {
      if (work.verb === 'prepare' && driver.supports?.('prepare') === false) return;
      await driver.perform(work, server, signal, origin);
    },
    isSynchronous: ({ work, server, origin }) => driver.isSynchronous?.(work, server, origin) ?? false,
    supports: (verb) => driver.supports?.(verb) ?? true,
    canMove: () => driver.canMove ?? true,
    snapshotFormat: () => driver.snapshotFormat,
    async saveSnapshot({ server, imageId }, upload) {
      await upload((await driver.snapshotContent?.(server, imageId)) ?? new Uint8Array());
    },
    openConsole: async (server, type) => (await driver.openConsole?.(server, type)) ?? null,
    cacheImages: async (host, imageIds) => driver.cacheImages?.(host, imageIds),
  };
}
