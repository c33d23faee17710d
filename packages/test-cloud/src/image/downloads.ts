import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { checksumOf, downloadFile } from './download-file.js';
import { storeContent } from './store-content.js';

/** Returns the URL of a download. Throws a 400 error for schemes other than HTTP and HTTPS, and if downloads are disabled. */
export function checkedUri(call: Call, uri: unknown, purpose = 'web-download'): URL {
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined;
  if (!call.cloud.downloads || !url || !['http:', 'https:'].includes(url.protocol))
    throw badRequest(`URI for ${purpose} does not pass filtering: ${uri}`);
  try {
    checksumOf(url);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
  return url;
}

/** Downloads the content of an image and stores it. Returns the reason for a failure; undefined on success. */
export async function downloadInto(
  call: Call,
  image: { readonly id: string; readonly disk_format?: unknown },
  url: URL,
): Promise<string | undefined> {
  try {
    await storeContent(call, image, await downloadFile(url, call.cloud.downloads ?? new Set()));
    return undefined;
  } catch (error) {
    return `Download of ${url} failed: ${(error as Error).message}`;
  }
}
