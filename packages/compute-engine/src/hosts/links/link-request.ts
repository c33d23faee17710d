import { Readable } from 'node:stream';
import type { VolumeStorage } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import type { Driver } from '../../drivers/driver.js';
import type { HostRequester, LinkResponse } from '../../drivers/host-links.js';
import { type MachineQuery, type MachineQueryName, machineQueries } from '../../drivers/machine-queries.js';
import type { Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { concerns } from '../rights/departed-servers.js';
import type { LinkPeer } from './link-security.js';
import type { ReceivedLinkRequest } from './link-server.js';

type Bytes = AsyncIterable<Uint8Array>;

/** A method of the storage of volumes. */
export type VolumeCall = Exclude<keyof VolumeStorage, 'placement'>;

/**
 * A request over a link. Requests that must be executed even if the host is currently down are stored in the table of
 * `HostRequests` instead.
 */
export type LinkRequest =
  /** One of the `machineQueries`. If `serverId` is null, the query is about the host. */
  | {
      readonly kind: 'machine';
      readonly call: MachineQueryName;
      readonly serverId: string | null;
      readonly given: readonly unknown[];
    }
  | { readonly kind: 'console'; readonly serverId: string; readonly type: string }
  /** A call by the embedded volume service, and its arguments. */
  | { readonly kind: 'volumes'; readonly call: VolumeCall; readonly given: readonly unknown[] }
  /** A request from another host's driver. */
  | { readonly kind: 'driver'; readonly call: unknown };

/** Returns a function that finds the link address of a host. Hosts publish it when they start. */
export function createLinkFinder(store: Store) {
  return async (host: string) => {
    const [node] = await tables.nodes.find(store, (q) => q.where('host', '=', host));
    return node?.process?.link;
  };
}

/** Returns a function that finds the storage that a host shares with others, or null if its disks are local. */
export function createStorageFinder(store: Store) {
  return async (host: string): Promise<string | null> => {
    const [node] = await tables.nodes.find(store, (q) => q.where('host', '=', host));
    if (!node) throw new Error(`host ${host} does not exist`);
    return node.process?.storage ?? null;
  };
}

/**
 * Returns the sender of a request.
 * @throws Error for a process that is not a host of this cloud
 */
async function authenticateRequester(store: Store, peer: LinkPeer): Promise<HostRequester> {
  if (peer === 'api') return { host: null, concerns: async () => true };
  const nodes = await tables.nodes.find(store, (q) => q.orderBy('host'));
  const host = nodes.find(({ process }) => process?.link?.publicKey === peer.publicKey)?.host;
  if (host === undefined)
    throw new Error('the link was opened with a key that does not belong to a host of this cloud');
  return { host, concerns: (serverId) => concerns(store, serverId, host) };
}

async function requireServer(store: Store, id: string | null): Promise<Server> {
  const server = id === null ? undefined : await tables.servers.get(store, id);
  if (!server) throw new Error(`server ${id} does not exist`);
  return server;
}

/**
 * Returns a function that handles link requests with the driver of this host. Other hosts may send only requests from
 * their drivers.
 * @param name the name of this host
 */
export function createLinkHandler(store: Store, driver: Driver, name: string) {
  return async ({ request, signal, peer, onProcessing }: ReceivedLinkRequest): Promise<LinkResponse> => {
    const linkRequest: LinkRequest = request;
    const requester = await authenticateRequester(store, peer);
    if (linkRequest.kind === 'driver' && driver.handleHostRequest)
      return driver.handleHostRequest(linkRequest.call, signal, requester);
    if (requester.host !== null)
      throw new Error(`the host ${requester.host} must not send the request ${linkRequest.kind}`);
    if (linkRequest.kind === 'machine' && Object.hasOwn(machineQueries, linkRequest.call)) {
      const row: MachineQuery = machineQueries[linkRequest.call];
      const target = row.target === 'host' ? name : await requireServer(store, linkRequest.serverId);
      return { value: await row.run(driver, target, ...linkRequest.given) };
    }
    if (linkRequest.kind === 'console' && driver.openConsole)
      return { stream: await driver.openConsole(await requireServer(store, linkRequest.serverId), linkRequest.type) };
    if (linkRequest.kind === 'volumes' && driver.volumes) {
      const call = driver.volumes[linkRequest.call] as (...callArguments: readonly unknown[]) => Promise<unknown>;
      // `create` calls `onProcessing` if the source of the content may change again before the copy is complete.
      const callArguments =
        linkRequest.call === 'create' ? [...linkRequest.given, onProcessing] : [...linkRequest.given];
      const response = await call.apply(driver.volumes, callArguments);
      return linkRequest.call === 'read'
        ? { stream: Readable.from(response as Bytes, { objectMode: false }) }
        : { value: response };
    }
    throw new Error(`this host does not support the request ${linkRequest.kind}`);
  };
}
