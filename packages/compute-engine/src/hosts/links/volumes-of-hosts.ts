import type { HostLinks } from '../../drivers/host-links.js';
import type { VolumeStorage } from '../../drivers/volume-storage.js';
import type { LinkQuestion } from './link-question.js';

/** Where the content of volumes is when a host keeps it that is a process of its own. Where none does, volumes are records. */
export function volumesOfHosts({ ask, volumeHost }: Pick<HostLinks, 'ask' | 'volumeHost'>): VolumeStorage {
  async function tell(call: keyof VolumeStorage, ...given: readonly unknown[]): Promise<unknown> {
    const host = await volumeHost();
    if (host === null) return undefined;
    const question: LinkQuestion = { kind: 'volumes', call, given };
    // Copies take as long as they take, and a host that dies ends the link.
    const { value, stream } = await ask(host, question, new AbortController().signal);
    stream.destroy();
    return value;
  }
  return {
    create: async (caller, volume) => void (await tell('create', caller, volume)),
    remove: async (id) => void (await tell('remove', id)),
    extend: async (id, sizeGb) => void (await tell('extend', id, sizeGb)),
    reimage: async (caller, id, imageId, sizeGb) => void (await tell('reimage', caller, id, imageId, sizeGb)),
    replace: async (id, newId) => void (await tell('replace', id, newId)),
    list: async () => ((await tell('list')) ?? []) as Awaited<ReturnType<VolumeStorage['list']>>,
  };
}
