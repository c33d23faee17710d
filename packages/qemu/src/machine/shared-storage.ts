import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of the file that identifies shared storage, no matter where a host mounts it. */
const ID_FILE = 'storage';

/** Returns the id of shared storage. The first host that uses the storage generates the id. */
export async function readStorageId(directory: string): Promise<string> {
  const file = join(directory, ID_FILE);
  const temporaryFile = `${file}.${randomUUID()}`;
  await writeFile(temporaryFile, randomUUID());
  try {
    await link(temporaryFile, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporaryFile, { force: true });
  }
  return readFile(file, 'utf8');
}
