import type { Call } from '../service/call.js';

/** Staged content that waits for its import. */
const table = ({ cloud }: Call) => cloud.documents.table<Uint8Array>('image/staged');

/** Returns the size of staged content; undefined if there is none. */
export const stagedBytes = (call: Call, id: string): number | undefined => table(call).get(id)?.byteLength;

/** Stores content until it is imported. */
export async function stage(call: Call, id: string): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of call.req) parts.push(part as Uint8Array);
  table(call).set(id, Buffer.concat(parts));
}

/** Removes and returns staged content. */
export function unstage(call: Call, id: string): Uint8Array | undefined {
  const bytes = table(call).get(id);
  table(call).delete(id);
  return bytes;
}
