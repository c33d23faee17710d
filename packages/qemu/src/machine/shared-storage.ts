import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file that identifies shared storage, regardless of the path under which a host mounts it. */
const NAME = 'storage';

/** Returns the name of the storage, which the first host generates. */
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
