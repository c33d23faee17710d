import { randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { isSqliteFile } from '@apistrata/record-store';
import { newSecretKey, Sealer } from './sealer.js';
import { SecretKeyError } from './secret-key-error.js';

export interface SecretKeyOptions {
  /**
   * Seals what jobs know of passwords, injected files and tokens: 32 bytes in base64 or hexadecimal digits. Of a list the
   * first one seals and all open, so that a key can be replaced: add the new one at the end everywhere, then move it to
   * the front, then leave the old one out.
   */
  readonly secretKey?: string | readonly string[];
  /** Instead: a file with one key in each line, made with a new key (mode 600) when there is none. */
  readonly secretKeyFile?: string;
}

/** A list of keys, separated by commas, where neither option is given. */
const VARIABLE = 'APISTRATA_SECRET_KEY';

/**
 * What seals by the keys that were given. Without any, a SQLite file has one beside it (the file's name and `.key`); a
 * PostgreSQL database is shared by processes that must be given the same. What is only in memory is not at rest and is
 * not sealed. Throws {@link SecretKeyError}.
 */
export async function sealerFor(database: string, options: SecretKeyOptions): Promise<Sealer | undefined> {
  const { secretKey, secretKeyFile } = options;
  if (database === ':memory:') return undefined;
  if (secretKey !== undefined) return new Sealer([secretKey].flat());
  if (secretKeyFile !== undefined) return sealerIn(secretKeyFile);
  const given = process.env[VARIABLE];
  if (given) return new Sealer(given.split(',').map((key) => key.trim()));
  if (isSqliteFile(database)) return sealerIn(`${database}.key`);
  throw new SecretKeyError(
    `processes that share a PostgreSQL database need the same secret key: give secretKey, secretKeyFile or ${VARIABLE} (openssl rand -base64 32 makes one)`,
  );
}

async function sealerIn(file: string): Promise<Sealer> {
  const text = (await read(file)) ?? (await make(file)) ?? (await read(file)) ?? '';
  const lines = text.split('\n').map((line) => line.trim());
  try {
    return new Sealer(lines.filter((line) => line !== '' && !line.startsWith('#')));
  } catch (error) {
    throw new SecretKeyError(`${file}: ${(error as Error).message}`);
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SecretKeyError(`the secret key file cannot be read: ${(error as Error).message}`);
  }
}

/** Whole or not at all, and only by one of several processes that start together; undefined for the others. */
async function make(file: string): Promise<string | undefined> {
  const key = `${newSecretKey()}\n`;
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(key);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw new SecretKeyError(`the secret key file cannot be made: ${(error as Error).message}`);
  } finally {
    await rm(draft, { force: true });
  }
}
