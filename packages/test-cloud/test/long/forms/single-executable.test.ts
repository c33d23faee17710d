import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWholeProgram } from '../../whole-program.js';

const script = fileURLToPath(new URL('../../../../../scripts/single-executable.mjs', import.meta.url));
const able = process.platform === 'linux' && process.arch === 'x64';
if (!able) console.warn('\n*** SKIPPED: the single executable: it is built on linux-x64 ***\n');

describe.skipIf(!able)('the single executable', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-executable-'));
  const executable = join(folder, 'test-cloud');
  const temporary = join(folder, 'tmp');
  // Node and a home directory are unavailable.
  const env = { TMPDIR: temporary };
  const run = (...args: string[]) => spawnSync(executable, args, { env, encoding: 'utf8' });
  const files = () => {
    const [own = '', ...others] = readdirSync(temporary).filter((name) => name.startsWith('apistrata-'));
    expect(others).toEqual([]);
    return join(temporary, own);
  };

  beforeAll(() => {
    mkdirSync(temporary);
    execFileSync(process.execPath, [script, executable], { stdio: 'pipe' });
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('prints its help', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--wait-for-clients') });
  });

  it('exits with the status of the program that it runs', () => {
    const command = 'case "$OS_AUTH_URL" in http://127.0.0.1:*/identity/v3) exit 7;; esac';
    expect(run('--port', '0', '--quiet', '--', '/bin/sh', '-c', command)).toMatchObject({ status: 7, stdout: '' });
  });

  it('has all files that the cloud reads and loads later', () => expectWholeProgram(executable, [], env));

  it('keeps its files for the next start, private and complete', () => {
    run('--help');
    const [main] = readdirSync(join(files(), 'dist/cli')).map((name) => join(files(), 'dist/cli', name));
    const { ino, size } = statSync(main ?? '');
    expect(statSync(files()).mode & 0o777).toBe(0o700);
    expect(run('--help').status).toBe(0);
    expect(statSync(main ?? '').ino).toBe(ino);
    truncateSync(main ?? '', 0);
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('apistrata-test-cloud') });
    expect(statSync(main ?? '').size).toBe(size);
  });

  it('uses no folder that others can write to', () => {
    run('--help');
    chmodSync(files(), 0o777);
    expect(run('--help')).toMatchObject({ status: 1, stderr: expect.stringContaining('set TMPDIR to another folder') });
    chmodSync(files(), 0o700);
    expect(run('--help').status).toBe(0);
  });

  it('is built only if the name of the file is given', () => {
    const wrong = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('npm run executable -- test-cloud') });
  });
});
