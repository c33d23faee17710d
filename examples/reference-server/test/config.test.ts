import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { configJsonSchema } from '../src/config-file.js';
import { readOptions } from '../src/read-options.js';
import { StartError } from '../src/start-error.js';
import { ask, runProgram, startProgram } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(text: string): string {
  const name = join(folder, `${++files}.yaml`);
  writeFileSync(name, text);
  return name;
}

describe('options', () => {
  it('have their defaults', () => {
    const options = readOptions([], {});
    expect(options).toMatchObject({
      port: 8774,
      host: '127.0.0.1',
      db: 'data/compute.db',
      'drain-ms': 5_000,
      setting: {},
    });
    expect(options['policy-file']).toBeUndefined();
    expect(options.help).toBe(false);
  });

  it('come from the file, above it from the environment, above that from the command line, named values one by one', () => {
    const config = file(`
# comments are welcome
port: 1
log-level: warn
headers: service
setting: { reclaimSeconds: 1, defaultZone: one, usageAudit: true, defaultScheduleZone: null }
quota: { instances: 1, quota_secrets: 5 }
`);
    const environment = {
      APISTRATA_PORT: '2',
      APISTRATA_LOG_LEVEL: 'error',
      APISTRATA_SETTING: 'reclaimSeconds=2,defaultZone=two',
    };
    const options = readOptions(['--config', config, '--port', '3', '--setting', 'reclaimSeconds=3'], environment);
    expect(options).toMatchObject({
      port: 3,
      'log-level': 'error',
      headers: 'service',
      setting: { reclaimSeconds: 3, defaultZone: 'two', usageAudit: true, defaultScheduleZone: null },
      quota: { instances: 1, quota_secrets: 5 },
    });
    expect(readOptions([], { APISTRATA_CONFIG: config }).port).toBe(1);
  });

  it.each([
    [['--port', 'x'], {}, "--port is 'x': it takes a whole number from 0 to 65535"],
    [['--port', '70000'], {}, '65535'],
    [[], { APISTRATA_PORT: 'x' }, 'APISTRATA_PORT is'],
    [['--headers', 'mine'], {}, 'it takes service, openstack, both'],
    [['--prot', '1'], {}, "Unknown option '--prot'; --help lists the options"],
    [['--policy-file', 'policy.yaml', '--cors-origin'], {}, '--cors-origin'],
    [['--setting', 'nonsense=1'], {}, '--setting nonsense: there is no such name; there are reclaimSeconds'],
    [['--setting', 'reclaimSeconds=soon'], {}, '--setting reclaimSeconds=soon: '],
    [['--setting', 'reclaimSeconds'], {}, 'it takes NAME=VALUE'],
    [['--quota', 'instances=-2'], {}, '--quota instances=-2: '],
    [['--quota', 'instance=2'], {}, 'there are instances, cores'],
  ])('that are wrong are named, with the cure: %j %j', (args, environment, message) => {
    expect(() => readOptions(args, environment)).toThrow(StartError);
    expect(() => readOptions(args, environment)).toThrow(message);
  });

  it.each([
    ['prot: 1', /the file: Unrecognized key: "prot"; --print-config-schema/],
    ['port: x', /: port: .*expected number/],
    ['port: 1.5', /: port: /],
    ['setting: { reclaimSecond: 1 }', /: setting: Unrecognized key: "reclaimSecond"/],
    ['quota: { instances: many }', /: quota\.instances: /],
    ['quota: { secrets: 1 }', /: quota: there is no such name: secrets/],
    ['limit: { maxConnections: yes it is }', /: limit\.maxConnections: /],
    ['config: other.yaml', /Unrecognized key: "config"/],
    ['port: [1', /line 1/],
    ['- port', /: the file: /],
  ])('of a file that says %j are refused with the place', (text, message) => {
    const config = file(text);
    expect(() => readOptions(['--config', config], {})).toThrow(StartError);
    expect(() => readOptions(['--config', config], {})).toThrow(message);
  });

  it('may be an empty file, but not one that is not there', () => {
    expect(readOptions(['--config', file('# nothing yet')], {}).port).toBe(8774);
    expect(() => readOptions(['--config', '/does/not/exist.yaml'], {})).toThrow(/exist\.yaml cannot be read/);
  });

  it('are published as a JSON Schema, with every option that a file may have', () => {
    const published = readFileSync(join(import.meta.dirname, '../../../docs/operating/config.schema.json'), 'utf8');
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
    const { properties } = configJsonSchema() as {
      properties: Record<string, { description: string; default: unknown }>;
    };
    expect(properties.port).toMatchObject({ default: 8774, minimum: 0, maximum: 65535 });
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(['setting', 'quota', 'limit', 'database', 'drain-ms']),
    );
    expect(properties).not.toHaveProperty('help');
    for (const { description } of Object.values(properties)) expect(description).toBeTruthy();
  });
});

describe('the program with a configuration file', () => {
  it('checks it on request, without opening the database', async () => {
    const database = join(folder, 'unopened.db');
    const good = await runProgram(['--config', file(`db: ${database}\nquota: { cores: 7 }`), '--check-config']);
    expect(good).toEqual({ code: 0, output: 'The configuration is good.\n' });
    expect(() => readFileSync(database)).toThrow();
    const policy = file('"os_compute_api:nonsense": "!"');
    const bad = await runProgram(['--config', file(`policy-file: ${policy}`), '--check-config']);
    expect([bad.code, bad.output]).toEqual([1, expect.stringContaining('nonsense')]);
  });

  it('reads policies, log level and limits again at SIGHUP, and stays as it is when they are wrong', async () => {
    const policy = file('');
    const config = file('');
    const write = (level: string) => writeFileSync(config, `policy-file: ${policy}\nlog-level: ${level}\n`);
    write('info');
    const program = await startProgram(['--db', ':memory:', '--config', config]);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const list = async () => (await ask(program.url, 'GET', '/v2.1/flavors')).status;
    const hangUp = async (said: RegExp) => {
      const before = program.output().length;
      process.kill(program.pid, 'SIGHUP');
      await eventually(() => expect(program.output().slice(before)).toMatch(said));
    };
    expect(await list()).toBe(200);
    writeFileSync(policy, '"os_compute_api:os-keypairs:index": "!"');
    await hangUp(/are read again/);
    expect((await ask(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(403);
    writeFileSync(policy, '"no:such:rule": "!"');
    await hangUp(/no:such:rule.*nothing has changed/);
    expect((await ask(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(403);
    writeFileSync(policy, '');
    write('error');
    process.kill(program.pid, 'SIGHUP');
    await eventually(async () => expect((await ask(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(200));
    expect((await ask(program.url, 'GET', '/v2.1/flavors?name=unseen')).status).toBe(200);
    expect(await program.end('SIGTERM')).toBe(0);
    expect(program.output()).not.toContain('unseen');
  });
});
