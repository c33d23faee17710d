import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { downloadFile, parseChecksum } from './download-file.js';
import { storeContent } from './store-content.js';

/** Parses a download URL. Throws a 400 error unless the scheme is HTTP or HTTPS and downloads are enabled. */
export function parseDownloadUrl(call: Call, uri: unknown, purpose = 'web-download'): URL {
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined;
  if (!call.cloud.downloads || !url || !['http:', 'https:'].includes(url.protocol))
    throw badRequest(`URI for ${purpose} does not pass filtering: ${uri}`);
  try {
    parseChecksum(url);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
  return url;
}

/** Downloads and stores the data of an image. Returns the reason for a failure; undefined on success. */
export async function downloadImage(
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
