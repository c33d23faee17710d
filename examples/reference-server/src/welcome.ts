import { MIN_VERSION } from '@apistrata/compute-router';
import { operatorsPage, pageFile, pagePolicy, type SignIn } from '@apistrata/test-cloud/page';
import { card, codeBlock, facts, html, prose } from '@apistrata/ui';
import type { RequestHandler } from 'express';
import { AUTHENTICATION_HELP, type CallerKind, callerKindOf } from './callers.js';
import { nextSteps } from './next-steps.js';
import type { Options } from './options.js';

/** The options and state of the server that the operators' page shows. */
export interface WelcomeOptions {
  readonly options: Options;
  /** Path or URL of the database. */
  readonly database: string;
  /** Returns the number of hosts, and the number of servers on them. */
  readonly counts: () => Promise<{ readonly hosts: number; readonly servers: number }>;
  /** URL of the console proxy. */
  readonly consoleProxyUrl: string;
}

const ASSETS_PATH = '/_assets';

const SIGN_IN_METHODS: Readonly<Record<CallerKind, SignIn>> = {
  noauth: { kind: 'noauth' },
  tokens: { kind: 'token' },
  identity: { kind: 'token' },
  cloud: { kind: 'password', identity: '/identity/v3' },
};

const DURATION_UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** Returns a duration in the largest unit that fits. */
function formatDuration(seconds: number): string {
  const [size, unit] = DURATION_UNITS.find(([size]) => seconds >= size) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function databaseLabel(database: string): string {
  if (/^postgres(?:ql)?:/.test(database)) return 'PostgreSQL';
  return database === ':memory:' ? 'SQLite, in memory' : 'SQLite';
}

async function renderWelcomePage(url: string, { options, database, counts }: WelcomeOptions): Promise<string> {
  const kind = callerKindOf(options);
  // The page shows counts only if callers are not authenticated, because every client can then read them from the API.
  const { hosts, servers } = kind === 'noauth' ? await counts() : { hosts: undefined, servers: undefined };
  const factEntries: readonly (readonly [string, string | number | undefined])[] = [
    ['API versions', `${MIN_VERSION} to ${options['max-version']}`],
    ['Database', databaseLabel(database)],
    ['Uptime', formatDuration(process.uptime())],
    ['Hosts', hosts],
    ['Servers', servers],
  ];
  const links = [
    ...(options['no-docs'] ? [] : [{ href: `${url}/docs`, text: 'API reference' }]),
    { href: `${url}/openapi.json`, text: 'OpenAPI' },
    { href: `${url}/healthcheck`, text: 'Health' },
  ];
  const aboutHtml = html`<p>The server is running. Clients use the address <a href="${url}/v2.1/">${url}/v2.1/</a>.</p>
${facts(factEntries.filter(([, value]) => value !== undefined))}
<h3>First request</h3><p>${prose(AUTHENTICATION_HELP[kind])}</p>
${nextSteps(url, options).map((step) => card(step.split(' ')[0], codeBlock(step, 'the command')))}
<h3>Next</h3><ul>
${!options['no-docs'] && html`<li><a href="${url}/docs">API reference</a>: every operation at every version, with a form to send requests</li><li><a href="${url}/docs/changes">Compare two versions</a> and see breaking changes</li>`}
<li><a href="${url}/openapi.json">OpenAPI document</a>, of any version: <code>?version=2.53</code></li>
<li><a href="${url}/healthcheck">Health</a></li></ul>`;
  return operatorsPage({
    assets: `${url}${ASSETS_PATH}`,
    maxVersion: String(options['max-version']),
    signIn: SIGN_IN_METHODS[kind],
    consoles: options.driver !== 'simulated',
    links,
    about: aboutHtml,
  });
}

/** The paths at which browsers receive the operators' page. */
const PAGE_PATHS = new Set(['/', '/v2.1', '/v2.1/']);

/**
 * Serves the operators' page on `/` and `/v2.1/` to browsers, which prefer HTML. Other clients receive the version
 * documents.
 */
export function welcome(options: WelcomeOptions): RequestHandler {
  return async function welcomePage(req, res, next) {
    const file = req.path.startsWith(`${ASSETS_PATH}/`) && (await pageFile(req.path.slice(ASSETS_PATH.length + 1)));
    if (file) {
      res.set({ ETag: file.etag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
      res.type(file.type).send(file.text);
      return;
    }
    const acceptHeader = req.headers.accept ?? '';
    // Browsers list text/html first; `*/*` and JSON select the API.
    if (!PAGE_PATHS.has(req.path) || req.method !== 'GET' || !/^\s*text\/html\b/i.test(acceptHeader)) return next();
    const host = req.headers.host ?? '';
    const baseUrl = /^[\w.:[\]-]+$/.test(host) ? `${req.protocol}://${host}` : '';
    const frameOrigins = options.options.driver === 'simulated' ? [] : [new URL(options.consoleProxyUrl).origin];
    res.set({
      Vary: 'Accept',
      'Content-Security-Policy': pagePolicy(...frameOrigins),
      'X-Content-Type-Options': 'nosniff',
    });
    res.type('html').send(await renderWelcomePage(baseUrl, options));
  };
}
