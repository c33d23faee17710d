import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file that names storage which hosts share: by whatever path they reach it, it is the same. */
const NAME = 'storage';

/** The name of storage, which the first host to come gives it. */
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
