import type { Call } from '../service/call.js';

/** Bytes that wait for the import that makes them an image's. */
const table = ({ cloud }: Call) => cloud.documents.table<Uint8Array>('image/staged');

export const isStaged = (call: Call, id: string): boolean => table(call).has(id);

/** Keeps bytes until they are imported. */
export async function stage(call: Call, id: string): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of call.req) parts.push(part as Uint8Array);
  table(call).set(id, Buffer.concat(parts));
}

/** The bytes that were staged, which are not kept any longer. */
export function unstage(call: Call, id: string): Uint8Array | undefined {
  const bytes = table(call).get(id);
  table(call).delete(id);
  return bytes;
}
