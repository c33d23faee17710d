import type { VolumeStorage } from '@apistrata/catalogs';
import type { HostLinks, OpenLink } from '../../drivers/host-links.js';
import { answerValue } from '../host-question.js';
import { readLinkLine } from './link-line.js';
import type { LinkQuestion } from './link-question.js';

/** Where the content of volumes is when a host keeps it that is a process of its own. Where none does, volumes are records. */
export function volumesOfHosts({ ask, volumeHost }: Pick<HostLinks, 'ask' | 'volumeHost'>): VolumeStorage {
  // Copies take as long as they take, and a host that dies ends the link.
  const never = new AbortController().signal;

  async function open(call: keyof VolumeStorage, ...given: readonly unknown[]): Promise<OpenLink | undefined> {
    const host = await volumeHost();
    if (host === null) return undefined;
    const question: LinkQuestion = { kind: 'volumes', call, given };
    return ask(host, question, never);
  }

  async function tell(...asked: Parameters<typeof open>): Promise<unknown> {
    const link = await open(...asked);
    link?.stream.destroy();
    return link?.value;
  }
  return {
    async create(caller, volume, taken) {
      const link = await open('create', caller, volume);
      if (!link) return;
      taken?.();
      try {
        answerValue(await readLinkLine(link.stream, never));
      } finally {
        link.stream.destroy();
      }
    },
    remove: async (id) => void (await tell('remove', id)),
    extend: async (id, sizeGb) => void (await tell('extend', id, sizeGb)),
    reimage: async (caller, id, imageId, sizeGb) => void (await tell('reimage', caller, id, imageId, sizeGb)),
    replace: async (id, newId) => void (await tell('replace', id, newId)),
    list: async () => ((await tell('list')) ?? []) as Awaited<ReturnType<VolumeStorage['list']>>,
  };
}
