import type { Call } from '../service/call.js';

/** Staged image data that has not been imported yet, by image id. */
const table = ({ cloud }: Call) => cloud.documents.table<Uint8Array>('image/staged');

/** Returns the size of an image's staged data; undefined without staged data. */
export const stagedBytes = (call: Call, id: string): number | undefined => table(call).get(id)?.byteLength;

/** Stores the request body as staged image data until the import. */
export async function stageBytes(call: Call, id: string): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of call.req) parts.push(part as Uint8Array);
  table(call).set(id, Buffer.concat(parts));
}

/** Removes and returns an image's staged data. */
export function takeStaged(call: Call, id: string): Uint8Array | undefined {
  const bytes = table(call).get(id);
  table(call).delete(id);
  return bytes;
}
