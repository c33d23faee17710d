import { createGuestFiles } from '../guest/guest-files.js';
import type { GuestMetadata } from '../guest/meta-data.js';
import { createEc2Files } from './ec2-files.js';

export interface MetadataResponse {
  readonly type: 'application/json' | 'text/plain' | 'application/octet-stream';
  readonly body: Buffer;
}

/**
 * Returns the list of a metadata folder's entries. In the EC2 format, folder names end with a slash, and public keys
 * are listed as `index=name`.
 */
function listFolder(folder: string, paths: readonly string[], { server }: GuestMetadata): string | undefined {
  const relativePaths = paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
  if (relativePaths.length === 0) return undefined;
  const isSlashOmitted = folder === '' || folder.startsWith('openstack/');
  const names = relativePaths.map((path) => {
    const [name = '', ...rest] = path.split('/');
    if (/\/public-keys\/$/.test(folder)) return `${name}=${server.keyName}`;
    return rest.length > 0 && !isSlashOmitted ? `${name}/` : name;
  });
  return [...new Set(names)].join('\n');
}

/**
 * Returns the metadata service's response to a guest.
 *
 * @param path the path of the request URL, without the query string
 * @param floatingAddress the guest's floating IP address
 * @returns undefined for an unknown path
 */
export function createMetadataResponse(
  path: string,
  metadata: GuestMetadata,
  floatingAddress?: string,
): MetadataResponse | undefined {
  const files = new Map([...createEc2Files(metadata, floatingAddress), ...createGuestFiles(metadata)]);
  const requestedPath = path.split('/').filter(Boolean).join('/');
  const body = files.get(requestedPath);
  if (body) {
    const textType = requestedPath.includes('/meta-data/') ? 'text/plain' : 'application/octet-stream';
    return { type: requestedPath.endsWith('.json') ? 'application/json' : textType, body };
  }
  const folderList = listFolder(requestedPath === '' ? '' : `${requestedPath}/`, [...files.keys()], metadata);
  return folderList === undefined ? undefined : { type: 'text/plain', body: Buffer.from(folderList) };
}
