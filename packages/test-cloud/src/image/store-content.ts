import { IMAGE_HEADER_BYTES, type ImageContent, imageFormatOf } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { perCloud } from '../service/per-cloud.js';
import { badRequest, conflict } from '../service/service-error.js';

/** The detected formats that image data may have, by `disk_format`. Data of other disk formats is not checked. */
const ALLOWED_FORMATS: Readonly<Record<string, readonly string[]>> = {
  raw: ['raw', 'iso'],
  aki: ['raw'],
  ami: ['raw', 'iso'],
  ari: ['raw'],
  iso: ['iso'],
  qcow2: ['qcow2'],
  vmdk: ['vmdk'],
  vhdx: ['vhdx'],
  vdi: ['vdi'],
};

/** Passes image data through. Throws a 400 error if its first bytes belong to another format. */
async function* checkedContent(content: AsyncIterable<Uint8Array>, format: string) {
  let header: Buffer | undefined = Buffer.alloc(0);
  const checkFormat = (first: Buffer) => {
    const detectedFormat = imageFormatOf(first);
    if (ALLOWED_FORMATS[format]?.includes(detectedFormat) === false)
      throw badRequest(
        `The content is not ${format}, which the image declares as its disk_format: it is ${detectedFormat === 'raw' ? 'raw or unknown' : detectedFormat}`,
      );
    header = undefined;
    return first;
  };
  for await (const chunk of content) {
    if (!header) yield chunk;
    else {
      header = Buffer.concat([header, chunk]);
      if (header.byteLength >= IMAGE_HEADER_BYTES) yield checkFormat(header);
    }
  }
  if (header) yield checkFormat(header);
}

async function* asOneChunk(content: Uint8Array) {
  yield content;
}

/** The ids of the images whose data is being received. */
const uploads = perCloud(() => new Set<string>());

/** Returns whether an image's data is being received. In the meantime, its status is `saving`. */
export const isSaving = ({ cloud }: Call, id: string): boolean => uploads(cloud).has(id);

/**
 * Stores the data of an image. With real machines, data whose format differs from the image's `disk_format` is rejected
 * with 400, because no server could boot from it. Concurrent uploads to an image are rejected with 409.
 */
export async function storeContent(
  call: Call,
  { id, disk_format: format }: { readonly id: string; readonly disk_format?: unknown },
  content: ImageContent,
): Promise<void> {
  if (isSaving(call, id)) throw conflict('Image status transition from saving to saving is not allowed');
  const { cloud, caller } = call;
  uploads(cloud).add(id);
  try {
    const stream = content instanceof Uint8Array ? asOneChunk(content) : content;
    await cloud.catalogs.images.upload(caller, id, cloud.simulated ? stream : checkedContent(stream, String(format)));
  } finally {
    uploads(cloud).delete(id);
  }
}
