import type { VolumeStorage } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import type { Clock } from '../../clock/clock.js';
import type { Infrastructure } from '../../scheduler/infrastructure.js';
import type { HostLinkClient } from '../links/host-link-client.js';
import type { LinkRequest, VolumeCall } from '../links/link-request.js';
import { VolumeHomes } from './volume-homes.js';

/** The dependencies of a `VolumeStorage` whose content other processes store. */
export interface RemoteVolumeStorageParts {
  readonly linkClient: Pick<HostLinkClient, 'request' | 'read'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly infrastructure: Infrastructure;
}

/**
 * Creates a `VolumeStorage` that forwards each call to the host that stores the volume. If no host stores volumes,
 * volumes are records without content.
 */
export function createRemoteVolumeStorage(parts: RemoteVolumeStorageParts): VolumeStorage {
  const { linkClient } = parts;
  const homes = new VolumeHomes(parts);
  // Requests have no timeout, because copying may take a long time, and the link ends if the host process dies.
  const neverAborted = new AbortController().signal;

  async function send(
    host: string | undefined,
    call: VolumeCall,
    given: readonly unknown[],
    onProcessing?: () => void,
  ): Promise<any> {
    if (host === undefined) return undefined;
    const request: LinkRequest = { kind: 'volumes', call, given };
    return linkClient.request(host, request, neverAborted, onProcessing);
  }

  return {
    placement: homes,
    async create(caller, volume, onCaptured) {
      const { id, origin } = volume;
      if (origin.kind === 'copy') await homes.keepTogether(id, origin.id);
      try {
        await send(await homes.find(id), 'create', [caller, volume], onCaptured);
      } finally {
        // The host stays recorded after an error, so that incomplete data can be found.
        await homes.settle(id);
      }
    },
    async remove(id) {
      await send(await homes.find(id), 'remove', [id]);
      await homes.forget(id);
    },
    extend: async (id, sizeGb) => send(await homes.find(id), 'extend', [id, sizeGb]),
    async read(caller, id, format) {
      const host = await homes.find(id);
      const request: LinkRequest = { kind: 'volumes', call: 'read', given: [caller, id, format] };
      return host === undefined ? undefined : linkClient.read(host, request, neverAborted);
    },
    reimage: async (caller, id, ...image) => send(await homes.find(id), 'reimage', [caller, id, ...image]),
    async replace(id, newId) {
      const [host, newHost] = [await homes.find(id), await homes.find(newId)];
      if (newHost === undefined) return;
      // A repetition after a crash must find the same hosts, so the new volume keeps its record until it is removed.
      await homes.record(newId, newHost);
      await send(newHost, 'replace', [id, newId]);
      await homes.record(id, newHost);
      if (newHost !== host) await send(host, 'remove', [id]);
    },
    async list() {
      const hosts = (await homes.pools()).filter(({ up }) => up).map(({ host }) => host);
      // Unreachable hosts are omitted, and listed the next time.
      const lists = await Promise.all(hosts.map((host) => send(host, 'list', []).catch(() => [])));
      return lists.flat();
    },
    usage: async () => undefined,
  };
}
