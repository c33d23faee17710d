import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of the file that identifies a shared storage, no matter where a host mounts it. */
const NAME = 'storage';

/** Returns the id of a shared storage, which the first host that uses the storage generates. */
export async function storageName(directory: string): Promise<string> {
  const file = join(directory, NAME);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, randomUUID());
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}
