import { randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { isSqliteFile } from '@apistrata/record-store';
import { generateSecretKey, Sealer } from './sealer.js';
import { SecretKeyError } from './secret-key-error.js';

export interface SecretKeyOptions {
  /**
   * Key that encrypts the passwords, injected files and tokens in jobs: 32 bytes in base64 or hexadecimal digits. The
   * first key of a list encrypts and all keys decrypt, so that a key can be rotated.
   */
  readonly secretKey?: string | readonly string[];
  /** Alternative to `secretKey`: a file with one key per line, created with a new key (mode 600) if it is missing. */
  readonly secretKeyFile?: string;
}

/** The environment variable with a comma-separated list of keys, used without `secretKey` and `secretKeyFile`. */
const KEY_VARIABLE = 'APISTRATA_SECRET_KEY';

/**
 * Creates the sealer with the configured keys. Without configured keys, the key of a SQLite file is stored in a file
 * next to it, with `.key` appended to the name. Processes that share a PostgreSQL database must be configured with the
 * same keys. An in-memory database is not data at rest, so it is not encrypted.
 *
 * @throws {@link SecretKeyError}
 */
export async function createSealer(database: string, options: SecretKeyOptions): Promise<Sealer | undefined> {
  const { secretKey, secretKeyFile } = options;
  if (database === ':memory:') return undefined;
  if (secretKey !== undefined) return new Sealer([secretKey].flat());
  if (secretKeyFile !== undefined) return sealerFromFile(secretKeyFile);
  const environmentKeys = process.env[KEY_VARIABLE];
  if (environmentKeys) return new Sealer(environmentKeys.split(',').map((key) => key.trim()));
  if (isSqliteFile(database)) return sealerFromFile(`${database}.key`);
  throw new SecretKeyError(
    `processes that share a PostgreSQL database need the same secret key: set secretKey, secretKeyFile or ${KEY_VARIABLE} (openssl rand -base64 32 generates one)`,
  );
}

/** The keys that a host uses instead of the secret key of the cloud. */
export interface HostKeyOptions {
  /**
   * The key of this host: 32 bytes in base64 or hexadecimal digits, which `apistrata admin host-role` derives from the
   * secret key. With several keys, the first encrypts and all keys decrypt.
   */
  readonly hostKey?: string | readonly string[];
  /** Alternative to `hostKey`: a file with one key per line, which must exist. */
  readonly hostKeyFile?: string;
}

/**
 * Creates the sealer of a host, with the host's own key or a key that is derived from the secret key. The sealer
 * encrypts and decrypts only data for that host.
 *
 * @throws {@link SecretKeyError}
 */
export async function createHostSealer(
  database: string,
  host: string,
  options: SecretKeyOptions & HostKeyOptions,
): Promise<Sealer> {
  const { hostKey, hostKeyFile } = options;
  if (hostKey !== undefined) return new Sealer([hostKey].flat());
  if (hostKeyFile !== undefined) return sealerFromText(hostKeyFile, await readKeyFile(hostKeyFile));
  const sealer = await createSealer(database, options);
  if (!sealer) throw new SecretKeyError('a host requires a key: set hostKey, hostKeyFile, secretKey or secretKeyFile');
  return sealer.sealerForHost(host);
}

/**
 * Returns a function that derives and caches the sealer of each host. If the cloud has no sealer, nothing is encrypted.
 */
export function createHostSealers(sealer: Sealer | undefined): (host: string) => Sealer | undefined {
  const cache = new Map<string, Sealer>();
  return (host) => {
    const hostSealer = cache.get(host) ?? sealer?.sealerForHost(host);
    if (hostSealer) cache.set(host, hostSealer);
    return hostSealer;
  };
}

async function sealerFromFile(file: string): Promise<Sealer> {
  return sealerFromText(file, (await readKeyFile(file)) ?? (await createKeyFile(file)) ?? (await readKeyFile(file)));
}

function sealerFromText(file: string, text = ''): Sealer {
  const lines = text.split('\n').map((line) => line.trim());
  try {
    return new Sealer(lines.filter((line) => line !== '' && !line.startsWith('#')));
  } catch (error) {
    throw new SecretKeyError(`${file}: ${(error as Error).message}`);
  }
}

async function readKeyFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SecretKeyError(`the secret key file cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Creates the key file atomically; if several processes start concurrently, only one of them creates it. Returns
 * undefined in the others.
 */
async function createKeyFile(file: string): Promise<string | undefined> {
  const key = `${generateSecretKey()}\n`;
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
    throw new SecretKeyError(`the secret key file cannot be created: ${(error as Error).message}`);
  } finally {
    await rm(draft, { force: true });
  }
}
