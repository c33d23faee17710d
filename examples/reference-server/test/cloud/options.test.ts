import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkCloud } from '../../src/cloud/check-cloud.js';
import { adminSettings, writeCloudsYaml } from '../../src/cloud/client-settings.js';
import { cloudsYamlPath } from '../../src/cloud/clouds-yaml-path.js';
import { clientUrl } from '../../src/listen.js';
import { readOptions } from '../../src/read-options.js';
import { runProgram, startProgram } from '../program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-cloud-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('--cloud', () => {
  it.each([
    [['--cloud', '--workers', '2'], '--cloud cannot be combined with --workers: a single process must manage'],
    [['--cloud', '--auth', 'tokens'], '--cloud has its own users: it cannot be combined with --auth tokens'],
    [['--cloud', '--image-url', 'http://x'], '--cloud has its own services: it cannot be combined with --image-url'],
    [['--cloud', '--identity-url', 'http://x'], 'it cannot be combined with --identity-url'],
    [['--clouds-yaml', 'x'], '--clouds-yaml needs --cloud'],
    [['--reset-admin-password'], '--reset-admin-password needs --cloud'],
    [['--lockout-failure-attempts', '6'], '--lockout-failure-attempts needs --cloud'],
    [['--image-source', 'mirror.lan'], '--image-source needs --cloud'],
  ])('rejects %j', (args, message) => {
    expect(() => checkCloud(readOptions(args, {}))).toThrow(message);
  });

  it('is checked without creating anything, also from a configuration file', async () => {
    const config = join(folder, 'config.yaml');
    const database = join(folder, 'new', 'cloud.db');
    writeFileSync(config, `cloud: true\ndb: ${database}\n`);
    expect((await runProgram(['--config', config, '--check-config'])).output).toBe('The configuration is valid.\n');
    expect(existsSync(join(folder, 'new'))).toBe(false);
    const { code, output } = await runProgram(['--config', config, '--check-config', '--clouds-yaml', `${config}/x`]);
    expect([code, output]).toEqual([1, expect.stringContaining(`--clouds-yaml ${config} cannot be created`)]);
  });

  it('prints the settings of the first administrator at the first start only', async () => {
    const args = ['--cloud', '--db', join(folder, 'shown.db'), '--log-level', 'error'];
    const first = await startProgram(args);
    const [, password] = await first.printed(/^export OS_PASSWORD=(\S+)$/m);
    await first.printed(/Press Ctrl-C/);
    expect(first.output()).toContain(`export OS_AUTH_URL=${first.url}/identity/v3\n`);
    expect(readFileSync(join(folder, 'clouds.yaml'), 'utf8')).toContain(`password: ${password}\n`);
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await startProgram(args);
    await second.printed(/Press Ctrl-C/);
    expect(second.output()).not.toContain('OS_PASSWORD');
    expect(await second.end('SIGTERM')).toBe(0);
  });
});

describe('clouds.yaml', () => {
  it('is next to the SQLite file, in data/ for PostgreSQL, and nowhere for a database in memory', () => {
    const pathOf = (...args: readonly string[]) => cloudsYamlPath(readOptions(['--cloud', ...args], {}));
    expect(pathOf('--db', '/a/b.db')).toBe('/a/clouds.yaml');
    expect(pathOf('--db', 'postgres://h/d')).toBe(join(process.cwd(), 'data/clouds.yaml'));
    expect(pathOf('--db', ':memory:')).toBeUndefined();
    expect(pathOf('--db', ':memory:', '--clouds-yaml', '/a/c.yaml')).toBe('/a/c.yaml');
  });

  it('keeps an existing file under another name', async () => {
    const file = join(folder, 'own.yaml');
    writeFileSync(file, 'mine');
    await writeCloudsYaml(file, adminSettings('http://h', 'secret'));
    expect(readFileSync(`${file}.old`, 'utf8')).toBe('mine');
    expect(readFileSync(file, 'utf8')).toContain('auth_url: http://h/identity/v3\n');
  });

  it('has an address that clients can reach', () => {
    expect(clientUrl('http://0.0.0.0:1')).toBe('http://127.0.0.1:1');
    expect(clientUrl('http://[::]:1')).toBe('http://[::1]:1');
    expect(clientUrl('http://10.0.0.0:1')).toBe('http://10.0.0.0:1');
  });
});
