import type { ImageContent } from '../catalogs/image-catalog.js';
import type { Server } from '../model/index.js';
import type { EngineObserver } from '../observation/observer.js';
import type { Driver, DriverVerb, DriverWork, WorkOrigin } from './driver.js';

/** An order to the machine of a server: plain data, with all that whoever carries it out needs to know. */
export interface MachineOrder {
  readonly work: DriverWork;
  /** The server as it is when the order is given. */
  readonly server: Server;
  readonly origin: WorkOrigin;
}

/**
 * The one way from actions to machines. What is behind it may be a driver in this process or somebody who hands orders
 * on to the hosts: actions see no difference.
 */
export interface Machines {
  /** Carries an order out; `signal` ends when nobody waits for it any more. May be asked for the same once more. */
  perform(order: MachineOrder, signal: AbortSignal): Promise<void>;
  /** True when an order will be carried out without waiting for anything, so no state on the way is worth writing down. */
  isInstant(order: MachineOrder): boolean;
  /** False for work that no machine can do. */
  supports(verb: DriverVerb): boolean;
  /** The disk format of snapshots; left out: that of the image which the server was made from. */
  readonly snapshotFormat?: string;
  /** What a snapshot holds after `snapshot` was performed. */
  snapshotContent(server: Server, imageId: string): Promise<ImageContent>;
}

/** Carries out work under observation: how long it takes and how it ends. */
function observed(perform: Machines['perform'], { step, around }: EngineObserver): Machines['perform'] {
  if (!step && !around) return perform;
  async function timed(order: MachineOrder, signal: AbortSignal): Promise<void> {
    const begunAt = performance.now();
    const tell = (outcome: 'done' | 'failed' | 'stopped') =>
      step?.({ verb: order.work.verb, outcome, ms: performance.now() - begunAt });
    try {
      await perform(order, signal);
    } catch (error) {
      tell(signal.aborted ? 'stopped' : 'failed');
      throw error;
    }
    tell('done');
  }
  if (!around) return timed;
  return (order, signal) =>
    around({ type: 'step', verb: order.work.verb, serverId: order.server.id }, () => timed(order, signal));
}

/** The machines of a driver in this process. */
export function machinesOf(driver: Driver, observer: EngineObserver = {}): Machines {
  const perform: Machines['perform'] = ({ work, server, origin }, signal) =>
    driver.perform(work, server, signal, origin);
  return {
    perform: observed(perform, observer),
    isInstant: ({ work, server, origin }) => driver.instantly?.(work, server, origin) ?? false,
    supports: (verb) => driver.supports?.(verb) ?? true,
    snapshotFormat: driver.snapshotFormat,
    snapshotContent: async (server, imageId) => (await driver.snapshotContent?.(server, imageId)) ?? new Uint8Array(),
  };
}
