import { guestFiles } from '../guest/guest-files.js';
import type { GuestStory } from '../guest/meta-data.js';
import { ec2Files } from './ec2-files.js';

export interface MetadataAnswer {
  readonly type: 'application/json' | 'text/plain' | 'application/octet-stream';
  readonly body: Buffer;
}

/** What is in a folder: in the form of EC2 folders end with a slash, and keys have their name beside their number. */
function listing(folder: string, paths: readonly string[], { server }: GuestStory): string | undefined {
  const inside = paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
  if (inside.length === 0) return undefined;
  const open = folder === '' || folder.startsWith('openstack/');
  const names = inside.map((path) => {
    const [name = '', ...rest] = path.split('/');
    if (/\/public-keys\/$/.test(folder)) return `${name}=${server.keyName}`;
    return rest.length > 0 && !open ? `${name}/` : name;
  });
  return [...new Set(names)].join('\n');
}

/**
 * What the metadata service says to a guest.
 * @param path of the request, without its query
 * @param floating the address by which the guest is reached from outside
 * @returns undefined where there is nothing
 */
export function metadataAnswer(path: string, story: GuestStory, floating?: string): MetadataAnswer | undefined {
  const files = new Map([...ec2Files(story, floating), ...guestFiles(story)]);
  const asked = path.split('/').filter(Boolean).join('/');
  const body = files.get(asked);
  if (body) {
    const text = asked.includes('/meta-data/') ? 'text/plain' : 'application/octet-stream';
    return { type: asked.endsWith('.json') ? 'application/json' : text, body };
  }
  const told = listing(asked === '' ? '' : `${asked}/`, [...files.keys()], story);
  return told === undefined ? undefined : { type: 'text/plain', body: Buffer.from(told) };
}
