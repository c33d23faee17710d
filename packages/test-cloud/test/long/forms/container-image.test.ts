import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWholeProgram } from '../../whole-program.js';

const at = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const script = at('scripts/container-image.mjs');
const { version } = JSON.parse(readFileSync(at('packages/test-cloud/package.json'), 'utf8'));
const able = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
if (!able) console.warn('\n*** SKIPPED: the container image: it is built on linux ***\n');
const mayChangeRoot = able && process.getuid?.() === 0;
if (!mayChangeRoot)
  console.warn('\n*** SKIPPED: running the container image: only root can change the root folder ***\n');

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

describe.skipIf(!able)('the container image', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-image-'));
  const layout = join(folder, 'layout');
  const root = join(folder, 'root');
  const blobPath = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
  const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const index = () => json(join(layout, 'index.json'));
  const manifest = (): { readonly config: Blob; readonly layers: readonly Blob[] } =>
    json(blobPath(index().manifests[0].digest));
  const image = () => json(blobPath(manifest().config.digest));

  beforeAll(() => {
    const archive = join(folder, 'test-cloud.tar');
    execFileSync(process.execPath, [script, archive], {
      stdio: 'pipe',
      env: { ...process.env, SOURCE_DATE_EPOCH: '86400' },
    });
    for (const path of [layout, root]) mkdirSync(path);
    execFileSync('tar', ['-xf', archive, '-C', layout]);
    for (const { digest } of manifest().layers) execFileSync('tar', ['-xzf', blobPath(digest), '-C', root]);
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is an OCI layout whose blobs have their digests and sizes', () => {
    expect(json(join(layout, 'oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' });
    const blobs: readonly Blob[] = [index().manifests[0], manifest().config, ...manifest().layers];
    for (const { digest, size } of blobs) {
      const content = readFileSync(blobPath(digest));
      expect(content.length).toBe(size);
      expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(digest);
    }
    expect(readdirSync(join(layout, 'blobs/sha256'))).toHaveLength(blobs.length);
    const uncompressed = manifest().layers.map(({ digest }) => gunzipSync(readFileSync(blobPath(digest))));
    expect(image().rootfs.diff_ids).toEqual(
      uncompressed.map((content) => `sha256:${createHash('sha256').update(content).digest('hex')}`),
    );
  });

  it('also has the name that older versions of Docker read', () => {
    const [entry, ...others] = json(join(layout, 'manifest.json'));
    expect(others).toEqual([]);
    expect(entry.RepoTags).toEqual([`test-cloud:${version}`]);
    expect(existsSync(join(layout, entry.Config))).toBe(true);
    expect(entry.Layers.map((path: string) => existsSync(join(layout, path)))).toEqual([true, true]);
  });

  it('has the settings of the Dockerfile, and the specified date', () => {
    const { config, architecture, os, created } = image();
    expect({ architecture, os, created }).toEqual({
      architecture: process.arch === 'x64' ? 'amd64' : 'arm64',
      os: 'linux',
      created: '1970-01-02T00:00:00.000Z',
    });
    expect(config).toMatchObject({
      User: 'node',
      Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
      Entrypoint: ['node', '/app/dist/cli/main.js', '--host', '0.0.0.0'],
      Healthcheck: {
        Test: ['CMD', 'node', '-e', expect.any(String)],
        Interval: 2e9,
        Timeout: 2e9,
        StartPeriod: 5e9,
        Retries: 5,
      },
      Labels: { 'org.opencontainers.image.version': version },
    });
    expect(config.ExposedPorts).toEqual({ '8774/tcp': {} });
  });

  it('contains Node, its libraries, the program and their licenses, and nothing else', () => {
    expect(
      readdirSync(root)
        .filter((name) => !name.startsWith('lib'))
        .sort(),
    ).toEqual(['app', 'etc', 'tmp', 'usr']);
    expect(readdirSync(join(root, 'usr/local/bin'))).toEqual(['node']);
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toMatch(/^node:x:1000:1000:/m);
    expect(readFileSync(join(root, 'app/dist/LICENSES.txt'), 'utf8')).toContain('express');
    expect(statSync(join(root, 'tmp')).mode & 0o7777).toBe(0o1777);
  });

  it.skipIf(!mayChangeRoot)('runs as its user, with all files that the cloud reads and loads later', () => {
    const { Env, Entrypoint } = image().config;
    const env = Object.fromEntries(Env.map((line: string) => line.split('=')));
    return expectWholeProgram('/usr/sbin/chroot', ['--userspec=1000:1000', root, ...Entrypoint], env);
  });

  it('is built only if the name of the file is given', () => {
    const wrong = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('npm run container -- test-cloud.tar') });
  });
});
