import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PAGE_STYLE } from '../src/formats/page-style.js';
import type { HealthcheckOptions } from '../src/index.js';
import { HOSTS, serve } from './serve.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-health-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const there = join(folder, 'there');
const directory = join(folder, 'directory');
const absent = join(folder, 'absent');
writeFileSync(there, '');
mkdirSync(directory);

interface State {
  readonly title: string;
  readonly options: (port: number) => HealthcheckOptions;
  readonly healthy: boolean;
  readonly results: readonly (readonly [reason: string, details: string])[];
}

const NO_FILE = "No 'disable_by_file_path' configuration value specified";
const ALL_PATHS_EXIST = 'Specified file paths are available';

const STATES: readonly State[] = [
  { title: 'no backend', options: () => ({}), healthy: true, results: [] },
  {
    title: 'disable_by_file without a path',
    options: () => ({ backends: ['disable_by_file'] }),
    healthy: true,
    results: [['OK', NO_FILE]],
  },
  {
    title: 'disable_by_file with an empty path',
    options: () => ({ backends: 'disable_by_file', disableByFilePath: '' }),
    healthy: true,
    results: [['OK', NO_FILE]],
  },
  {
    title: 'disable_by_file, the file absent',
    options: () => ({ backends: 'disable_by_file', disableByFilePath: absent }),
    healthy: true,
    results: [['OK', `Path '${absent}' was not found`]],
  },
  {
    title: 'disable_by_file, the file there',
    options: () => ({ backends: 'disable_by_file', disableByFilePath: there }),
    healthy: false,
    results: [['DISABLED BY FILE', `Path '${there}' was found`]],
  },
  {
    title: 'disable_by_file, a directory there',
    options: () => ({ backends: 'disable_by_file', disableByFilePath: directory }),
    healthy: false,
    results: [['DISABLED BY FILE', `Path '${directory}' was found`]],
  },
  {
    title: 'disable_by_files_ports without entries',
    options: () => ({ backends: 'disable_by_files_ports' }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'disable_by_files_ports, only another port has an entry',
    options: (port) => ({ backends: 'disable_by_files_ports', disableByFilePaths: `${port - 1}:${there}` }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'disable_by_files_ports, an empty path for the port',
    options: (port) => ({ backends: 'disable_by_files_ports', disableByFilePaths: `${port}:` }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'disable_by_files_ports, the file of the port absent',
    options: (port) => ({
      backends: 'disable_by_files_ports',
      disableByFilePaths: [`${port}:${absent}`, `1:${there}`],
    }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'disable_by_files_ports, the file of the port there, blanks and empty items around it',
    options: (port) => ({
      backends: 'disable_by_files_ports',
      disableByFilePaths: ` 1:${absent} ,, ${port}:${there} ,`,
    }),
    healthy: false,
    results: [['DISABLED BY FILE', '']],
  },
  {
    title: 'disable_by_files_ports, the last entry of a port wins',
    options: (port) => ({
      backends: 'disable_by_files_ports',
      disableByFilePaths: `${port}:${there},${port}:${absent}`,
    }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'disable_by_files_ports, a blank after the colon belongs to the path',
    options: (port) => ({ backends: 'disable_by_files_ports', disableByFilePaths: `${port}: ${there}` }),
    healthy: true,
    results: [['OK', '']],
  },
  {
    title: 'enable_by_files without paths',
    options: () => ({ backends: 'enable_by_files' }),
    healthy: true,
    results: [['OK', ALL_PATHS_EXIST]],
  },
  {
    title: 'enable_by_files, everything there',
    options: () => ({ backends: 'enable_by_files', enableByFilePaths: [there, directory] }),
    healthy: true,
    results: [['OK', ALL_PATHS_EXIST]],
  },
  {
    title: 'enable_by_files, the first missing one is named',
    options: () => ({ backends: 'enable_by_files', enableByFilePaths: ` ${there} , ${absent}1, ${absent}2` }),
    healthy: false,
    results: [['FILE PATH MISSING', `File path ${absent}1 is missing`]],
  },
  {
    title: 'enable_by_files, an empty item is a missing path',
    options: () => ({ backends: 'enable_by_files', enableByFilePaths: `${there},,${there}` }),
    healthy: false,
    results: [['FILE PATH MISSING', 'File path  is missing']],
  },
  {
    title: 'two backends, in configured order, the second unavailable',
    options: (port) => ({
      backends: 'disable_by_file, disable_by_files_ports',
      disableByFilePath: absent,
      disableByFilePaths: `${port}:${there}`,
    }),
    healthy: false,
    results: [
      ['OK', `Path '${absent}' was not found`],
      ['DISABLED BY FILE', ''],
    ],
  },
  {
    title: 'a backend named twice reports twice',
    options: () => ({ backends: ['disable_by_file', 'disable_by_file'], disableByFilePath: there }),
    healthy: false,
    results: [
      ['DISABLED BY FILE', `Path '${there}' was found`],
      ['DISABLED BY FILE', `Path '${there}' was found`],
    ],
  },
];

const plain = (state: State) => state.results.map(([reason]) => reason).join('\n');

const stateOf = (reason: string) => (reason === 'OK' ? 'available' : 'unavailable');

function json(state: State): string {
  if (state.results.length === 0) return '{\n    "detailed": false,\n    "reasons": []\n}';
  const list = (texts: readonly string[]) => `[\n${texts.map((text) => `        "${text}"`).join(',\n')}\n    ]`;
  const reasons = state.results.map(([reason]) => reason);
  return `{\n    "detailed": false,\n    "reasons": ${list(reasons)}\n}`;
}

/** The documented page with a style, a summary, and the reasons of failures at the top. */
function html(state: State): string {
  const { results, healthy } = state;
  const rows = results.map(([reason]) => `<TR class="${stateOf(reason)}">\n\n    <TD>${reason}</TD>\n\n</TR>`).join('');
  const summary = ['unavailable', 'available']
    .map((each) => [results.filter(([reason]) => stateOf(reason) === each).length, each] as const)
    .filter(([count]) => count > 0)
    .map(([count, each]) => `${count} ${each}`)
    .join(', ');
  const failing = results.filter(([reason]) => reason !== 'OK');
  const items = failing.map(([reason]) => `<LI class="unavailable">${reason}</LI>`).join('');
  return (
    '<HTML>\n<HEAD><TITLE>Healthcheck Status</TITLE>\n' +
    '<META charset="UTF-8"><META name="viewport" content="width=device-width, initial-scale=1">\n' +
    `${PAGE_STYLE}</HEAD>\n<BODY class="${healthy ? 'available' : 'unavailable'}">\n` +
    `<HEADER>${healthy ? 'Healthy' : 'Unhealthy'}<SMALL>${summary || 'nothing to check'}</SMALL>${items && `<UL>${items}</UL>`}</HEADER>\n\n` +
    `<H2>Result of ${results.length} checks:</H2>\n<TABLE bgcolor="#ffffff" border="1" class="results">\n<TBODY>\n` +
    `<TR>\n\n<TH>\nReason\n</TH>\n</TR>\n${rows}\n</TBODY>\n</TABLE>\n<HR></HR>\n\n</BODY>\n</HTML>`
  );
}

const PLAIN = { type: 'text/plain; charset=UTF-8', body: plain };
const HTML = { type: 'text/html; charset=UTF-8', body: html };
const JSON_ = { type: 'application/json', body: json };

const ACCEPTS: readonly (readonly [accept: string | undefined, answer: typeof PLAIN])[] = [
  [undefined, PLAIN],
  ['*/*', PLAIN],
  ['text/html', HTML],
  ['application/json', JSON_],
  ['application/json, text/html', HTML],
  ['image/png', PLAIN],
];

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const;

describe.each(Object.entries(HOSTS))('in %s', (_host, host) => {
  /** The port must be known before the options, because some of them contain it. */
  async function served(state: State, detailed: boolean) {
    let listener: ReturnType<typeof host> | undefined;
    const running = await serve((req, res) => listener!(req, res));
    listener = host({ ...state.options(running.port), detailed, log: false });
    return running;
  }

  describe.each(STATES)('$title', (state) => {
    const code = state.healthy ? 200 : 503;

    it.each(ACCEPTS)('returns the exact bytes for Accept %s', async (accept, { type, body }) => {
      const { request } = await served(state, false);
      const response = await request('/healthcheck', accept ? { headers: { accept } } : {});
      expect(response.body).toBe(body(state));
      expect(response.status).toBe(code);
      expect(response.headers['content-type']).toBe(type);
      expect(response.headers['content-length']).toBe(String(Buffer.byteLength(body(state))));
      expect(response.headers['cache-control']).toBeUndefined();
    });

    it('responds to every method as to GET', async () => {
      const { request } = await served(state, false);
      for (const method of METHODS) {
        const result = await request('/healthcheck', { method, body: method === 'GET' ? undefined : '{"ignored": ' });
        expect([method, result.status, result.body]).toEqual([method, code, plain(state)]);
      }
    });

    it.each([false, true])('responds to HEAD regardless of Accept, detailed %s', async (detailed) => {
      const { request } = await served(state, detailed);
      const response = await request('/healthcheck', { method: 'HEAD', headers: { accept: 'application/json' } });
      expect(response.status).toBe(state.healthy ? 204 : 503);
      expect(response.body).toBe('');
      expect(response.headers['content-type']).toBe('text/plain; charset=UTF-8');
      expect(response.headers['content-length']).toBe('0');
    });

    it('returns the same plain text when detailed', async () => {
      const { request } = await served(state, true);
      const response = await request('/healthcheck');
      expect([response.status, response.body]).toEqual([code, plain(state)]);
    });

    it('returns class, details and reason of each result as detailed JSON, and nothing else', async () => {
      const { request } = await served(state, true);
      const response = await request('/healthcheck', { headers: { accept: 'application/json' } });
      const reasons = state.results.map(([reason, details]) => ({ class: 'HealthcheckResult', details, reason }));
      expect(response.status).toBe(code);
      const body = JSON.parse(response.body);
      expect([body.detailed, body.reasons]).toEqual([true, reasons]);
    });

    it('returns a row for each result as detailed HTML, byte for byte', async () => {
      const { request } = await served(state, true);
      const response = await request('/healthcheck', { headers: { accept: 'text/html' } });
      const rows = state.results.map(
        ([reason, details]) =>
          `<TR class="${stateOf(reason)}">\n<TD>HealthcheckResult</TD>\n` +
          `    <TD>${reason}</TD>\n<TD>${details.replaceAll("'", '&#39;')}</TD>\n</TR>`,
      );
      expect(response.status).toBe(code);
      expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; /);
      expect(response.body).toContain(
        `\n\n<H2>Result of ${rows.length} checks:</H2>\n<TABLE bgcolor="#ffffff" border="1" class="results detailed">\n<TBODY>\n<TR>\n` +
          '<TH>\nKind\n</TH>\n<TH>\nReason\n</TH>\n<TH>\nDetails\n</TH>\n\n</TR>\n' +
          `${rows.join('')}\n</TBODY>\n</TABLE>\n<HR></HR>\n`,
      );
    });
  });
});
