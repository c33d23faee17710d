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

  async function send(call: keyof VolumeStorage, given: readonly unknown[], onProcessing?: () => void): Promise<any> {
    const host = await volumeHost();
    if (host === null) return undefined;
    const request: LinkRequest = { kind: 'volumes', call, given };
    return linkClient.request(host, request, neverAborted, onProcessing);
  }

  const forward =
    (call: keyof VolumeStorage) =>
    (...given: readonly unknown[]) =>
      send(call, given);

  return {
    create: (caller, volume, onCaptured) => send('create', [caller, volume], onCaptured),
    remove: forward('remove'),
    extend: forward('extend'),
    reimage: forward('reimage'),
    replace: forward('replace'),
    list: async () => (await send('list', [])) ?? [],
    usage: forward('usage'),
  };
}
