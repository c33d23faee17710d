import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newSecretKey, Sealer } from './sealer.js';
import { sealerFor } from './sealer-for.js';

const [old, fresh] = [newSecretKey(), newSecretKey()];

describe('the secret key', () => {
  let folder: string;
  beforeEach(async () => {
    vi.stubEnv('APISTRATA_SECRET_KEY', '');
    folder = await mkdtemp(join(tmpdir(), 'apistrata-key-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  it('is made beside a SQLite file, for its owner only, and found there again by all who start together', async () => {
    const database = join(folder, 'cloud.db');
    const sealers = await Promise.all(Array.from({ length: 8 }, () => sealerFor(database, {})));
    const sealed = sealers[0]!.seal('a', 'x');
    for (const sealer of [...sealers, await sealerFor(database, {})]) expect(sealer!.open(sealed, 'x')).toBe('a');
    expect((await stat(`${database}.key`)).mode & 0o777).toBe(0o600);
    expect(await readFile(`${database}.key`, 'utf8')).toMatch(/^[\w+/]{43}=\n$/);
  });

  it('comes from a file of several, from the option or from the environment', async () => {
    const file = join(folder, 'keys');
    await writeFile(file, `# of May\n${fresh}\n\n${old}\n`);
    const sealed = new Sealer([old]).seal('a', 'x');
    vi.stubEnv('APISTRATA_SECRET_KEY', `${fresh}, ${old}`);
    for (const options of [{ secretKeyFile: file }, { secretKey: old }, { secretKey: [fresh, old] }, {}])
      expect((await sealerFor('postgres://db', options))!.open(sealed, 'x')).toBe('a');
  });

  it('has to be given for PostgreSQL, whose processes need the same', async () => {
    await expect(sealerFor('postgres://db', {})).rejects.toMatchObject({
      code: 'SECRET_KEY',
      message: expect.stringContaining('give secretKey, secretKeyFile or APISTRATA_SECRET_KEY'),
    });
  });

  it('is refused with the name of the file that has none', async () => {
    const file = join(folder, 'keys');
    await writeFile(file, 'secret\n');
    await expect(sealerFor(':memory:', { secretKeyFile: file })).resolves.toBeUndefined();
    await expect(sealerFor('x.db', { secretKeyFile: file })).rejects.toThrow(`${file}: a secret key is 32 bytes`);
    await writeFile(file, '\n');
    await expect(sealerFor('x.db', { secretKeyFile: file })).rejects.toThrow(`${file}: there is no secret key`);
    await expect(sealerFor('x.db', { secretKeyFile: folder })).rejects.toThrow('the secret key file cannot be read');
    await expect(sealerFor('x.db', { secretKeyFile: join(folder, 'no', 'keys') })).rejects.toThrow(
      'the secret key file cannot be made',
    );
  });
});
