import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { checkEnvironment } from '../src/check-environment.js';
import { configJsonSchema } from '../src/config-file.js';
import { readOptions } from '../src/read-options.js';
import { StartError } from '../src/start-error.js';
import { runProgram, sendRequest, startProgram } from './program.js';

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
    });
    expect(options.setting).toEqual({});
    expect(options['policy-file']).toBeUndefined();
    expect(options.help).toBe(false);
  });

  it('come from the file, are overridden by the environment and then by the command line, and named values are merged', () => {
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
    [['--port', 'x'], {}, '--port must be an integer from 0 to 65535; it is "x"'],
    [['--port', '70000'], {}, '--port must be an integer from 0 to 65535; it is "70000"'],
    [[], { APISTRATA_PORT: 'x' }, 'APISTRATA_PORT must be an integer from 0 to 65535; it is "x"'],
    [['--headers', 'mine'], {}, '--headers must be one of service, openstack, both; it is "mine"'],
    [
      ['--auth', 'noauht'],
      {},
      '--auth must be one of noauth, tokens, identity; it is "noauht". Did you mean "noauth"?',
    ],
    [['--prot', '1'], {}, 'Unknown option "--prot". Did you mean "--port"?'],
    [['--logLevel', 'info'], {}, 'Unknown option "--logLevel". Did you mean "--log-level"?'],
    [['--nonsense'], {}, 'Unknown option "--nonsense". --help lists the options.'],
    [['server'], {}, 'Unexpected argument "server". Options start with "--"; --help lists them.'],
    [['--metrics=yes'], {}, 'Option "--metrics" does not take a value.'],
    [
      ['--policy-file', 'policy.yaml', '--cors-origin'],
      {},
      'Option "--cors-origin" needs a value: --cors-origin ORIGIN. If the value starts with a dash, write --cors-origin=VALUE.',
    ],
    [['--setting', 'reclaimSecond=1'], {}, '--setting: unknown name "reclaimSecond". Did you mean "reclaimSeconds"?'],
    [['--setting', 'reclaimSeconds=soon'], {}, '--setting: "reclaimSeconds" must be a number; it is "soon"'],
    [['--setting', 'reclaimSeconds'], {}, '--setting must have the form NAME=VALUE; it is "reclaimSeconds"'],
    [['--quota', 'instances=-2'], {}, '--quota: "instances" must be at least -1; it is "-2"'],
    [['--quota', 'instance=2'], {}, '--quota: unknown name "instance". Did you mean "instances"?'],
    [['--limit', 'max_connections=2'], {}, '--limit: unknown name "max_connections". Did you mean "maxConnections"?'],
  ])('that are invalid are reported, with the fix: %j %j', (args, environment, message) => {
    expect(() => readOptions(args, environment)).toThrow(new StartError(message));
  });

  it.each([
    ['prot: 1', 'unknown option "prot" (line 1). Did you mean "port"?'],
    ['port: 1\nlogLevel: info', 'unknown option "logLevel" (line 2). Did you mean "log-level"?'],
    ['nonsense: 1', 'unknown option "nonsense" (line 1). --print-config-schema lists all options.'],
    ['config: other.yaml', 'unknown option "config" (line 1). --print-config-schema lists all options.'],
    ['port: x', '"port" (line 1) must be a number; it is "x"'],
    ['port: 1.5', '"port" (line 1) must be an integer; it is "1.5"'],
    ['port: 70000', '"port" (line 1) must be at most 65535; it is "70000"'],
    ['# two\n\nmax-version: 2.100', '"max-version" (line 3) must be a string: put it in quotes, "2.100"'],
    [
      'log-level: loud',
      '"log-level" (line 1) must be one of silent, fatal, error, warn, info, debug, trace; it is "loud"',
    ],
    ['metrics: maybe', '"metrics" (line 1) must be true or false; it is "maybe"'],
    ['image: a.qcow2', '"image" (line 1) must be a list; it is "a.qcow2"'],
    ['db: ""', '"db" (line 1) must not be empty'],
    ['quota: 5', '"quota" (line 1) must be an object with "name: value" entries; it is "5"'],
    [
      'setting:\n  reclaim-seconds: 1',
      'unknown option "reclaim-seconds" of "setting" (line 2). Did you mean "reclaimSeconds"?',
    ],
    ['quota: { instances: many }', '"quota.instances" (line 1) must be a number; it is "many"'],
    ['quota: { instanses: 1 }', 'unknown option "instanses" of "quota" (line 1). Did you mean "instances"?'],
    ['limit: { maxConnections: yes it is }', '"limit.maxConnections" (line 1) must be a number; it is "yes it is"'],
    ['- port', 'the file must be a mapping of option names to values, such as "port: 8774"'],
  ])('of a file with %j are rejected with the line and the fix', (text, message) => {
    const config = file(text);
    expect(() => readOptions(['--config', config], {})).toThrow(new StartError(`--config ${config}: ${message}`));
  });

  it('name the line of a syntax error in a file', () => {
    expect(() => readOptions(['--config', file('port: [1')], {})).toThrow(/line 1/);
  });

  it('may be an empty file, but not a missing one or a folder', () => {
    expect(readOptions(['--config', file('# nothing yet')], {}).port).toBe(8774);
    expect(() => readOptions(['--config', '/does/not/exist.yaml'], {})).toThrow(
      new StartError('--config /does/not/exist.yaml cannot be read: the file does not exist'),
    );
    expect(() => readOptions(['--config', folder], {})).toThrow(
      new StartError(`--config ${folder} cannot be read: it is a folder`),
    );
  });

  it.each([
    [
      ['--db', 'mysql://localhost/x'],
      '--db: unsupported scheme "mysql:". Use postgres://USER@HOST/DATABASE, the path of a SQLite file, or :memory:.',
    ],
    [['--db', 'postgress://localhost/x'], '--db: unsupported scheme "postgress:". Did you mean "postgres://"?'],
    [
      ['--db', 'sqlite:data.db'],
      '--db: unsupported scheme "sqlite:". For SQLite, use only the path, such as data/compute.db.',
    ],
    [['--db', '/proc/version/x/compute.db'], '--db /proc/version/x cannot be created: /proc/version is not a folder'],
    [['--db', '/proc'], '--db /proc is a folder: use the path of a file in it'],
    [['--port', '9000', '--metrics-port', '9000'], '--port and --metrics-port are both 9000: choose different ports'],
    [
      ['--host', '203.0.113.7'],
      'port 0 of 203.0.113.7 cannot be used: this computer does not have that address. Choose another one with --host',
    ],
    [
      ['--driver', 'qemu', '--machine-dir', '/proc/version/m'],
      '--machine-dir /proc/version/m cannot be created: /proc/version is not a folder',
    ],
  ])('are checked together with ports, addresses and folders: %j', async (args, message) => {
    await expect(checkEnvironment(readOptions(args, {}))).rejects.toThrow(new StartError(message));
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
  it('checks the configuration on request, without opening the database', async () => {
    const database = join(folder, 'unopened.db');
    const valid = await runProgram(['--config', file(`db: ${database}\nquota: { cores: 7 }`), '--check-config']);
    expect(valid).toEqual({ code: 0, output: 'The configuration is valid.\n' });
    expect(() => readFileSync(database)).toThrow();
    const policy = file('"os_compute_api:nonsense": "!"');
    const bad = await runProgram(['--config', file(`policy-file: ${policy}`), '--check-config']);
    expect([bad.code, bad.output]).toEqual([1, expect.stringContaining('nonsense')]);
  });

  it('reloads policies, log level and limits on SIGHUP, and changes nothing if they are invalid', async () => {
    const policy = file('');
    const config = file('');
    const write = (level: string) => writeFileSync(config, `policy-file: ${policy}\nlog-level: ${level}\n`);
    write('info');
    const program = await startProgram(['--db', ':memory:', '--config', config]);
    onTestFinished(async () => void (await program.end('SIGKILL')));
    const list = async () => (await sendRequest(program.url, 'GET', '/v2.1/flavors')).status;
    const sendSighup = async (expected: RegExp) => {
      const before = program.output().length;
      process.kill(program.pid, 'SIGHUP');
      await eventually(() => expect(program.output().slice(before)).toMatch(expected));
    };
    expect(await list()).toBe(200);
    writeFileSync(policy, '"os_compute_api:os-keypairs:index": "!"');
    await sendSighup(/were reloaded/);
    expect((await sendRequest(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(403);
    writeFileSync(policy, '"no:such:rule": "!"');
    await sendSighup(/no:such:rule.*was not applied/);
    expect((await sendRequest(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(403);
    writeFileSync(policy, '');
    write('error');
    process.kill(program.pid, 'SIGHUP');
    await eventually(async () => expect((await sendRequest(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(200));
    expect((await sendRequest(program.url, 'GET', '/v2.1/flavors?name=unseen')).status).toBe(200);
    expect(await program.end('SIGTERM')).toBe(0);
    expect(program.output()).not.toContain('unseen');
  });
});
