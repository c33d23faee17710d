import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateSecretKey, Sealer } from './sealer.js';
import { createHostSealer, createSealer } from './sealer-for.js';

const [old, fresh] = [generateSecretKey(), generateSecretKey()];

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

  it('is created next to a SQLite file, readable only by its owner, and is the same for all processes that start concurrently', async () => {
    const database = join(folder, 'cloud.db');
    const sealers = await Promise.all(Array.from({ length: 8 }, () => createSealer(database, {})));
    const sealed = sealers[0]!.seal('a', 'x');
    for (const sealer of [...sealers, await createSealer(database, {})]) expect(sealer!.open(sealed, 'x')).toBe('a');
    expect((await stat(`${database}.key`)).mode & 0o777).toBe(0o600);
    expect(await readFile(`${database}.key`, 'utf8')).toMatch(/^[\w+/]{43}=\n$/);
  });

  it('comes from a file with several keys, the option or the environment', async () => {
    const file = join(folder, 'keys');
    await writeFile(file, `# of May\n${fresh}\n\n${old}\n`);
    const sealed = new Sealer([old]).seal('a', 'x');
    vi.stubEnv('APISTRATA_SECRET_KEY', `${fresh}, ${old}`);
    for (const options of [{ secretKeyFile: file }, { secretKey: old }, { secretKey: [fresh, old] }, {}])
      expect((await createSealer('postgres://db', options))!.open(sealed, 'x')).toBe('a');
  });

  it('is required for PostgreSQL, whose processes need the same key', async () => {
    await expect(createSealer('postgres://db', {})).rejects.toMatchObject({
      code: 'SECRET_KEY',
      message: expect.stringContaining('set secretKey, secretKeyFile or APISTRATA_SECRET_KEY'),
    });
  });

  it('of a host is its own key, or is derived from that of the cloud', async () => {
    const [hostKeyFile, cloud] = [join(folder, 'h1.key'), new Sealer([fresh, old])];
    await expect(createHostSealer('postgres://db', 'h1', { hostKeyFile })).rejects.toThrow(
      `${hostKeyFile}: the secret key is missing`,
    );
    await writeFile(hostKeyFile, cloud.deriveHostKeys('h1').join('\n'));
    const sealed = cloud.sealerForHost('h1').seal('a', 'x');
    for (const options of [{ hostKeyFile }, { hostKey: cloud.deriveHostKeys('h1') }, { secretKey: [fresh, old] }])
      expect((await createHostSealer('postgres://db', 'h1', options)).open(sealed, 'x')).toBe('a');
    for (const sealer of [cloud, cloud.sealerForHost('h2')])
      expect(() => sealer.open(sealed, 'x')).toThrow('does not have');
    expect(() => cloud.sealerForHost('h1').open(cloud.seal('a', 'x'), 'x')).toThrow('does not have');
  });

  it('is rejected with the name of the file if it is invalid', async () => {
    const file = join(folder, 'keys');
    await writeFile(file, 'secret\n');
    await expect(createSealer(':memory:', { secretKeyFile: file })).resolves.toBeUndefined();
    await expect(createSealer('x.db', { secretKeyFile: file })).rejects.toThrow(
      `${file}: a secret key must be 32 bytes`,
    );
    await writeFile(file, '\n');
    await expect(createSealer('x.db', { secretKeyFile: file })).rejects.toThrow(`${file}: the secret key is missing`);
    await expect(createSealer('x.db', { secretKeyFile: folder })).rejects.toThrow('the secret key file cannot be read');
    await expect(createSealer('x.db', { secretKeyFile: join(folder, 'no', 'keys') })).rejects.toThrow(
      'the secret key file cannot be created',
    );
  });
});
