import type { VolumeStorage } from '@apistrata/catalogs';
import type { HostLinkClient } from './host-link-client.js';
import type { LinkRequest } from './link-request.js';

/** The dependencies of a `VolumeStorage` whose content another process stores. */
export interface RemoteVolumeStorageParts {
  readonly linkClient: Pick<HostLinkClient, 'request'>;
  /** Returns the host that stores volumes, or null if no host does. */
  readonly volumeHost: () => Promise<string | null>;
}

/**
 * Creates a `VolumeStorage` that forwards each call to the host that stores volumes. If no host stores volumes, volumes
 * are records without content.
 */
export function createRemoteVolumeStorage({ linkClient, volumeHost }: RemoteVolumeStorageParts): VolumeStorage {
  // Requests have no timeout, because copying may take a long time, and the link ends if the host process dies.
  const neverAborted = new AbortController().signal;

  async function send(call: keyof VolumeStorage, callArguments: readonly unknown[], onProcessing?: () => void) {
    const host = await volumeHost();
    if (host === null) return undefined;
    const request: LinkRequest = { kind: 'volumes', call, given: callArguments };
    return linkClient.request(host, request, neverAborted, onProcessing);
  }

  return {
    create: async (caller, volume, onCaptured) => void (await send('create', [caller, volume], onCaptured)),
    remove: async (id) => void (await send('remove', [id])),
    extend: async (id, sizeGb) => void (await send('extend', [id, sizeGb])),
    reimage: async (caller, id, imageId, sizeGb) => void (await send('reimage', [caller, id, imageId, sizeGb])),
    replace: async (id, newId) => void (await send('replace', [id, newId])),
    list: async () => ((await send('list', [])) ?? []) as Awaited<ReturnType<VolumeStorage['list']>>,
  };
}
