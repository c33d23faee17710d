import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file with a few bytes, for clients that send files. */
export function sampleFile(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'clients-'));
  const path = join(folder, 'content');
  writeFileSync(path, 'a few bytes\n');
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
