import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '@apistrata/microversion';
import { LRUCache } from 'lru-cache';
import { html } from './html.js';
import { changesMarkdown } from './markdown.js';
import { Api } from './model/api.js';
import { checkOptions, type ExplorerOptions } from './options.js';
import { changesPage } from './pages/changes-page.js';
import { layout } from './pages/layout.js';
import { operationPage } from './pages/operation-page.js';
import { operationsPage } from './pages/operations-page.js';
import { searchPage } from './pages/search-page.js';
import type { Site } from './pages/site.js';
import { versionPage, versionsPage } from './pages/versions-page.js';

/** Serves the pages; works in Express 4 and 5 (`app.use('/docs', ...)`) and as a `node:http` listener. */
export type ExplorerHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const HTML_TYPE = 'text/html; charset=utf-8';
/** Maximum size of the page cache, in characters. */
const KEPT_CHARACTERS = 32 * 1024 * 1024;
/** Maximum length of a search query, in characters. */
const LONGEST_QUESTION = 200;

const ASSETS: Readonly<Record<string, string>> = {
  'explorer.css': 'text/css; charset=utf-8',
  'explorer.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

/** Allows requests only to the server of the pages and to that of the API. */
function contentPolicy(server: string): string {
  const origin = /^https?:\/\/[^/]+/.exec(server)?.[0];
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    `connect-src 'self'${origin ? ` ${origin}` : ''}`,
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Creates a handler that serves documentation pages for a versioned API: its operations at any version, the changes of
 * each version, a comparison of any two versions, and a form that sends requests. Pages are rendered on first use.
 *
 * @throws TypeError or RangeError if an option is unknown, missing or invalid
 *
 * @example
 * ```ts
 * import { explorer } from '@apistrata/explorer';
 * import type { Operation } from '@apistrata/microversion/router';
 * import express from 'express';
 *
 * const operations: Operation[] = [];
 * express().use('/docs', explorer({ operations, min: '1.1', max: '1.12', title: 'Todos' }));
 * ```
 */
export function explorer(options: ExplorerOptions): ExplorerHandler {
  checkOptions(options);
  const api = new Api(options);
  const policy = contentPolicy(api.server);
  const pages = new LRUCache<string, string>({ maxSize: KEPT_CHARACTERS, sizeCalculation: (text) => text.length + 1 });
  const assets = new Map<string, Reply>();

  function asset(name: string): Reply | undefined {
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (!type) return undefined;
    let known = assets.get(name);
    if (!known) {
      const text = readFileSync(new URL(`../assets/${name}`, import.meta.url));
      const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      assets.set(name, (known = { status: 200, type, text, headers: { ETag: tag } }));
    }
    return known;
  }

  function page(site: Site, key: string, render: () => { readonly text: string }): Reply {
    const name = `${site.base} ${site.version.text} ${key}`;
    let text = pages.get(name);
    if (text === undefined) pages.set(name, (text = render().text));
    return { status: 200, type: HTML_TYPE, text };
  }

  function changes(site: Site, query: URLSearchParams, accept: string): Reply {
    const [from, to] = [query.get('from'), query.get('to')].map((text) =>
      text === null ? undefined : api.versions.find(text),
    );
    if ((query.has('from') && !from) || (query.has('to') && !to)) return unknownVersion(site);
    const [first, second] = [from ?? api.versions.min, to ?? site.version];
    const [low, high] = first.compare(second) <= 0 ? [first, second] : [second, first];
    const format =
      query.get('format') ??
      (accept.startsWith('application/json') ? 'json' : accept.startsWith('text/markdown') ? 'markdown' : 'html');
    if (format === 'json') {
      const text = JSON.stringify({ from: low.text, to: high.text, changes: api.changes(low, high) });
      return { status: 200, type: 'application/json', text };
    }
    if (format === 'markdown') {
      const text = changesMarkdown(api.title, low.text, high.text, api.changes(low, high));
      return { status: 200, type: 'text/markdown; charset=utf-8', text };
    }
    return page(site, `/changes ${low.text} ${high.text}`, () => changesPage(site, low, high));
  }

  function notFound(site: Site, what: string): Reply {
    const content = html`<h1>Not found</h1><p>${what}</p>`;
    return { status: 404, type: HTML_TYPE, text: layout(site, { title: 'Not found', path: '/', content }).text };
  }

  function unknownVersion(site: Site): Reply {
    const { min, max } = api.versions;
    return notFound(site, `Unknown version. Supported versions: ${min.text} to ${max.text}.`);
  }

  function answer(path: string, query: URLSearchParams, base: string, accept: string): Reply {
    const asked = query.get('version');
    const version: Version | undefined = asked === null ? api.versions.max : api.versions.find(asked);
    const site: Site = { api, base, version: version ?? api.versions.max };
    if (path.startsWith('/assets/'))
      return asset(path.slice('/assets/'.length)) ?? notFound(site, 'The file does not exist.');
    if (!version) return unknownVersion(site);
    if (path === '/' || path === '') return page(site, '/', () => operationsPage(site));
    if (path === '/openapi.json')
      return { status: 200, type: 'application/json', text: api.documents.text(version, api.server || undefined) };
    if (path === '/changes') return changes(site, query, accept);
    if (path === '/versions') return page(site, path, () => versionsPage(site));
    if (path === '/search') {
      const question = (query.get('q') ?? '').trim().slice(0, LONGEST_QUESTION);
      return { status: 200, type: HTML_TYPE, text: searchPage(site, question).text };
    }
    const [, section, name = ''] = /^\/(operations|versions)\/([^/]+)$/.exec(path) ?? [];
    if (section === 'versions') {
      const step = api.versions.find(name);
      return step ? page({ ...site, version: step }, path, () => versionPage(site, step)) : unknownVersion(site);
    }
    const line = section === 'operations' ? api.lifelines.get(name) : undefined;
    return line ? page(site, path, () => operationPage(site, line)) : notFound(site, 'The page does not exist.');
  }

  return function explorerPages(req, res, next) {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      if (next) return next();
      res.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end();
      return;
    }
    const mounted = options.path ?? (req as { readonly baseUrl?: string }).baseUrl ?? '';
    const [address = '', text = ''] = (req.url ?? '/').split('?', 2);
    const outside = options.path !== undefined && (req as { readonly baseUrl?: string }).baseUrl === undefined;
    if (outside && address !== mounted && !address.startsWith(`${mounted}/`)) {
      if (next) return next();
      res.writeHead(404, { 'Content-Length': 0 }).end();
      return;
    }
    const path = outside ? address.slice(mounted.length) : address;
    const reply = answer(path, new URLSearchParams(text), mounted, String(req.headers.accept ?? ''));
    const { ETag } = reply.headers ?? {};
    if (ETag !== undefined && req.headers['if-none-match'] === ETag) {
      res.writeHead(304, { ETag }).end();
      return;
    }
    res.writeHead(reply.status, {
      'Content-Type': reply.type,
      'Content-Length': Buffer.byteLength(reply.text),
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      ...reply.headers,
    });
    res.end(req.method === 'HEAD' ? undefined : reply.text);
  };
}
