import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Check,
  diskSpace,
  eventLoopDelay,
  HealthcheckConfigError,
  type HealthcheckOptions,
  healthcheck,
  healthcheckFromConfig,
  heap,
  http,
  rss,
  tcp,
} from '../src/index.js';
import { recordingLog, serve } from './serve.js';

const ok: Check['check'] = () => ({ state: 'available' });

function rejection(build: () => unknown): HealthcheckConfigError {
  try {
    build();
  } catch (error) {
    if (error instanceof HealthcheckConfigError) return error;
    throw error;
  }
  throw new Error('was not rejected');
}

describe('an invalid configuration is rejected at creation, with the option and the fix:', () => {
  const cases: readonly (readonly [title: string, options: object, option: string, fix: string])[] = [
    ['links without text', { links: [{ href: '/' }] }, 'links', 'Use [{ href, text }], with strings'],
    ['both exclusive backends', { backends: 'disable_by_file, enable_by_files' }, 'backends', 'Keep one of them'],
    [
      'the same in a group',
      { groups: { ready: { backends: ['enable_by_files', 'disable_by_file'] } } },
      'groups.ready.backends',
      'Keep one',
    ],
    [
      'a ports entry without a colon',
      { disableByFilePaths: '/run/drain' },
      'disableByFilePaths',
      'like "8080:/run/drain-8080"',
    ],
    [
      'a ports entry with a word for the port',
      { disableByFilePaths: ['http:/run/drain'] },
      'disableByFilePaths',
      'like "8080:',
    ],
    ['a port that cannot be', { disableByFilePaths: '65536:/run/drain' }, 'disableByFilePaths', 'from 0 to 65535'],
    ['a negative port', { disableByFilePaths: '-1:/run/drain' }, 'disableByFilePaths', 'from 0 to 65535'],
    ['a range that is a word', { allowedSourceRanges: 'localhost' }, 'allowedSourceRanges', 'such as 10.0.0.0/8'],
    ['an empty range', { allowedSourceRanges: '10.0.0.0/8,' }, 'allowedSourceRanges', 'such as 10.0.0.0/8'],
    [
      'a range with host bits',
      { allowedSourceRanges: '10.0.0.1/8' },
      'allowedSourceRanges',
      'with zeros after the prefix',
    ],
    [
      'an IPv6 range with host bits',
      { allowedSourceRanges: ['2001:db8::1/32'] },
      'allowedSourceRanges',
      'with zeros after the prefix',
    ],
    ['a range wider than its address', { allowedSourceRanges: ['10.0.0.0/33'] }, 'allowedSourceRanges', 'such as'],
    ['a range with two slashes', { allowedSourceRanges: ['10.0.0.0/8/8'] }, 'allowedSourceRanges', 'such as'],
    [
      'a range with a broken netmask',
      { allowedSourceRanges: ['10.0.0.0/255.0.255.0'] },
      'allowedSourceRanges',
      'such as',
    ],
    ['an unknown backend name', { backends: ['disable_by_files'] }, 'backends', 'Did you mean "disable_by_file"?'],
    ['a backend name of another world', { backends: ['constructor'] }, 'backends', 'Known names: disable_by_file, '],
    [
      'an unknown name in a group',
      { checks: [{ name: 'db', check: ok }], groups: { ready: { backends: 'bd' } } },
      'groups.ready.backends',
      'Did you mean "db"?',
    ],
    ['a misspelled option', { backend: [] }, 'backend', 'Did you mean "backends"?'],
    [
      'an option in the spelling of the file',
      { disable_by_file_path: '' },
      'disable_by_file_path',
      'Did you mean "disableByFilePath"?',
    ],
    ['an unknown option', { colour: 'red' }, 'colour', 'Known names: path, backends, '],
    ['a misspelled option of a group', { groups: { ready: { backend: [] } } }, 'backend', 'Did you mean "backends"?'],
    [
      'a misspelled option of a check',
      { backends: [{ name: 'a', check: ok, timeoutMS: 5 }] },
      'timeoutMS',
      'Did you mean "timeoutMs"?',
    ],
    [
      'a timeout of nothing',
      { backends: [{ name: 'a', check: ok, timeoutMs: 0 }] },
      'timeoutMs',
      'at least 1 milliseconds',
    ],
    [
      'a timeout longer than a timer',
      { backends: [{ name: 'a', check: ok, timeoutMs: 2 ** 31 }] },
      'timeoutMs',
      'milliseconds',
    ],
    ['a check without a function', { backends: [{ name: 'a' }] }, 'backends', '{ name, check(signal) }'],
    ['a check without a name', { checks: [{ check: ok }] }, 'checks', '{ name, check(signal) }'],
    [
      'two checks of one name',
      { checks: [{ name: 'a', check: ok }], backends: [{ name: 'a', check: ok }] },
      'backends',
      'a unique name',
    ],
    [
      'a check with the name of a file backend',
      { checks: [{ name: 'disable_by_file', check: ok }] },
      'checks',
      'a unique name',
    ],
    ['a path without a slash', { path: 'healthcheck' }, 'path', 'such as "/healthcheck"'],
    ['a path with a query', { path: '/health?check' }, 'path', 'such as "/healthcheck"'],
    [
      'two endpoints at one path',
      { path: '/readyz', groups: { ready: { backends: [] } } },
      'groups.ready.path',
      'a unique path',
    ],
    [
      'a group in place of the main endpoint',
      { groups: { healthcheck: { backends: [] } } },
      'groups.healthcheck',
      'another name',
    ],
    ['a text for detailed', { detailed: 'yes' }, 'detailed', 'Use true or false'],
    ['a number for a path', { disableByFilePath: 5 }, 'disableByFilePath', 'Use a string'],
    [
      'an object for a list',
      { enableByFilePaths: { a: 1 } },
      'enableByFilePaths',
      'an array of strings or a comma-separated string',
    ],
  ];

  it.each(cases)('%s', (_title, options, option, fix) => {
    const error = rejection(() => healthcheck({ log: false, ...options } as HealthcheckOptions));
    expect(error).toMatchObject({ option, code: 'HEALTHCHECK_CONFIG_INVALID', status: 500 });
    expect(error.message).toContain(`healthcheck option "${option}": `);
    expect(error.message).toContain(fix);
  });

  it.each([
    ['rss() without a limit', () => rss({} as never), 'maxBytes'],
    ['heap() with a negative limit', () => heap({ maxRatio: -1 }), 'maxRatio'],
    ['diskSpace() without a limit', () => diskSpace('/', {}), 'minFreeBytes'],
    ['eventLoopDelay() with a misspelled option', () => eventLoopDelay({ maxMS: 1 } as never), 'maxMS'],
    ['tcp() with a port that cannot be', () => tcp('localhost', 0), 'port'],
    ['http() with a path', () => http('/health'), 'url'],
    ['http() with another protocol', () => http('ftp://localhost/'), 'url'],
    ['http() with a password', () => http('http://user:secret@localhost/'), 'url'],
  ])('%s', (_title, build, option) => {
    const error = rejection(build);
    expect(error.option).toBe(option);
    expect(error.message).not.toContain('secret');
  });

  it('but disable_by_files_ports can be combined with either of the exclusive backends', () => {
    for (const other of ['disable_by_file', 'enable_by_files']) {
      expect(() => healthcheck({ backends: [other, 'disable_by_files_ports'] })).not.toThrow();
    }
  });
});

describe('the string options of a configuration file', () => {
  it('build the endpoint that the documents describe', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-health-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const drain = join(folder, 'drain');
    writeFileSync(drain, '');
    const health = healthcheckFromConfig(
      {
        path: '/status',
        backends: 'disable_by_file, disable_by_files_ports',
        disable_by_file_path: drain,
        disable_by_file_paths: `1:${drain}`,
        allowed_source_ranges: '127.0.0.0/8, ::1',
        ignore_proxied_requests: 'True',
        detailed: 'no',
      },
      { log: false },
    );
    const { request } = await serve((req, res) => health(req, res, () => res.end('next')));
    expect(await request('/status')).toMatchObject({ status: 503, body: 'DISABLED BY FILE\nOK' });
    expect((await request('/status', { headers: { 'x-forwarded-for': 'a' } })).body).toBe('next');
    expect((await request('/healthcheck')).body).toBe('next');
  });

  it.each(['true', '1', 'yes', 'on', 'True', 'YES', ' On '])('read detailed = %s as true', async (detailed) => {
    const health = healthcheckFromConfig({ detailed, track_promises: 'off' });
    onTestFinished(() => health.close());
    const { request } = await serve(health);
    const { body } = await request('/healthcheck', { headers: { accept: 'application/json' } });
    expect(JSON.parse(body).detailed).toBe(true);
  });

  it.each(['false', '0', 'no', 'off', 'False', 'OFF'])('read detailed = %s as false', async (detailed) => {
    const { request } = await serve(healthcheckFromConfig({ detailed }));
    const { body } = await request('/healthcheck', { headers: { accept: 'application/json' } });
    expect(JSON.parse(body).detailed).toBe(false);
  });

  it('add the names of checks if configured, and the service that the code passes', async () => {
    const names = async (record: Record<string, string>) => {
      const health = healthcheckFromConfig({ backends: 'disable_by_file', ...record }, { service: { version: '7' } });
      onTestFinished(() => health.close());
      const { request } = await serve(health);
      return JSON.parse((await request('/healthcheck', { headers: { accept: 'application/json' } })).body);
    };
    expect(await names({})).toEqual({ detailed: false, reasons: ['OK'] });
    expect(await names({ names: 'yes' })).toEqual({ detailed: false, names: ['disable_by_file'], reasons: ['OK'] });
    const detailed = await names({ names: 'on', detailed: 'on' });
    expect([detailed.reasons[0].name, detailed.service]).toEqual(['disable_by_file', { version: '7' }]);
  });

  it('name the checks that the code passes', async () => {
    const checks = [{ name: 'db', check: ok }];
    const { request } = await serve(healthcheckFromConfig({ backends: 'db' }, { checks }));
    expect((await request('/healthcheck')).body).toBe('OK');
  });

  it.each([
    ['detailed', { detailed: 'maybe' }, 'Write true or false'],
    ['detailed', { detailed: 'constructor' }, 'Write true or false'],
    ['ignore_proxied_requests', { ignore_proxied_requests: '2' }, 'Write true or false'],
    ['detailed', { detailed: true as never }, 'Use a string, as in a configuration file'],
    ['disable_by_file_paths', { disable_by_file_paths: '/run/drain' }, 'like "8080:'],
    ['allowed_source_ranges', { allowed_source_ranges: '10.0.0.1/8' }, 'with zeros after the prefix'],
    ['disable_by_filepath', { disable_by_filepath: '' }, 'Did you mean "disable_by_file_path"?'],
    ['disableByFilePath', { disableByFilePath: '' }, 'Did you mean "disable_by_file_path"?'],
    ['backends', { backends: 'disable_by_fil' }, 'Did you mean "disable_by_file"?'],
  ])('are rejected by their name in the file: %s in %j', (option, record, fix) => {
    const error = rejection(() => healthcheckFromConfig(record as Record<string, string>));
    expect(error.option).toBe(option);
    expect(error.message).toContain(fix);
  });
});

describe('the log', () => {
  it('contains a warning for each request of a backend without its configuration, and for a missing file', async () => {
    const log = recordingLog();
    const health = healthcheck({ backends: 'disable_by_file, disable_by_files_ports', log });
    await health.status();
    await health.status();
    await healthcheck({ backends: 'enable_by_files', log }).status();
    await healthcheck({ backends: 'enable_by_files', enableByFilePaths: '/nonexistent/a', log }).status();
    expect(log.lines.map((line) => /disable_by_files_ports|disable_by_file|enable_by_files/.exec(line)![0])).toEqual([
      'disable_by_file',
      'disable_by_files_ports',
      'disable_by_file',
      'disable_by_files_ports',
      'enable_by_files',
      'enable_by_files',
    ]);
    expect(log.lines.every((line) => line.startsWith('warn healthcheck: '))).toBe(true);
  });
});
