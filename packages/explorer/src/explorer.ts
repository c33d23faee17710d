import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '@apistrata/microversion';
import { html, stylePage } from '@apistrata/ui';
import { LRUCache } from 'lru-cache';
import { explorerAsset } from './assets.js';
import { contentPolicy } from './content-policy.js';
import { changesMarkdown } from './markdown.js';
import { Api } from './model/api.js';
import { filterChanges, parseFilter } from './model/change-filter.js';
import { checkOptions, type ExplorerOptions } from './options.js';
import { changesPage } from './pages/changes-page.js';
import { layout } from './pages/layout.js';
import { operationPage } from './pages/operation-page.js';
import { operationsPage } from './pages/operations-page.js';
import { searchPage } from './pages/search-page.js';
import { createServerLinks, type Site } from './pages/site.js';
import { versionsFeed } from './pages/versions-feed.js';
import { versionPage, versionsPage } from './pages/versions-page.js';
import { type PageResponse, sendResponse } from './reply.js';

/** A handler that serves the pages, in Express 4 and 5 (`app.use('/docs', ...)`) or as a `node:http` listener. */
export type ExplorerHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;

const HTML_CONTENT_TYPE = 'text/html; charset=utf-8';
/** Maximum size of the page cache, in characters. */
const MAX_CACHED_CHARACTERS = 32 * 1024 * 1024;
/** Maximum length of a search query, in characters. */
const MAX_QUERY_LENGTH = 200;

/** Returns the server's origin as the client sees it. Behind a proxy, Express determines the protocol. */
function serverOrigin(req: IncomingMessage): string {
  const { protocol } = req as { readonly protocol?: string };
  const isEncrypted = 'encrypted' in req.socket && req.socket.encrypted === true;
  return `${protocol ?? (isEncrypted ? 'https' : 'http')}://${req.headers.host ?? 'localhost'}`;
}

/**
 * Creates a handler that serves documentation pages for a versioned API: its operations at any version, the changes in
 * each version, a comparison of any two versions, and a form that sends requests. Pages are rendered on first use.
 *
 * @throws TypeError or RangeError if an option is unknown, missing or invalid
 *
 * @example
 * ```ts
 * import { explorer } from '@apistrata/explorer';
 * import type { Operation } from '@apistrata/microversion-router';
 * import express from 'express';
 *
 * const operations: Operation[] = [];
 * express().use('/docs', explorer({ operations, min: '1.1', max: '1.12', title: 'Todos' }));
 * ```
 */
export function explorer(options: ExplorerOptions): ExplorerHandler {
  checkOptions(options);
  const api = new Api(options);
  const policy = `${contentPolicy(options)}; frame-ancestors 'none'`;
  const pages = new LRUCache<string, PageResponse>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ text }) => text.length + 1,
  });
  const assets = new Map<string, PageResponse>();

  function assetResponse(name: string): PageResponse | undefined {
    const cached = assets.get(name);
    if (cached) return cached;
    const file = explorerAsset(name, options);
    if (!file) return undefined;
    const reply: PageResponse = { status: 200, ...file, isCacheable: true };
    assets.set(name, reply);
    return reply;
  }

  function cachedResponse(key: string, type: string, render: () => string): PageResponse {
    let reply = pages.get(key);
    if (!reply) pages.set(key, (reply = { status: 200, type, text: render(), isCacheable: true }));
    return reply;
  }

  function pageResponse(site: Site, key: string, render: () => { readonly text: string }): PageResponse {
    return cachedResponse(`${site.links.assets} ${site.version.text} ${key}`, HTML_CONTENT_TYPE, () => render().text);
  }

  function changesResponse(site: Site, query: URLSearchParams, accept: string): PageResponse {
    const [from, to] = [query.get('from'), query.get('to')].map((text) =>
      text === null ? undefined : api.versions.find(text),
    );
    if ((query.has('from') && !from) || (query.has('to') && !to)) return unknownVersionResponse(site);
    const [first, second] = [from ?? api.versions.min, to ?? site.version];
    const [low, high] = first.compare(second) <= 0 ? [first, second] : [second, first];
    const filter = parseFilter(query);
    const format =
      query.get('format') ??
      (accept.startsWith('application/json') ? 'json' : accept.startsWith('text/markdown') ? 'markdown' : 'html');
    const key = `/changes ${low.text} ${high.text} ${JSON.stringify(filter)}`;
    if (format === 'json')
      return cachedResponse(`${key} json`, 'application/json', () =>
        JSON.stringify({ from: low.text, to: high.text, changes: filterChanges(api.allChanges(low, high), filter) }),
      );
    if (format === 'markdown')
      return cachedResponse(`${key} markdown`, 'text/markdown; charset=utf-8', () =>
        changesMarkdown(api.title, low.text, high.text, filterChanges(api.changes(low, high), filter)),
      );
    return pageResponse(site, key, () => changesPage(site, low, high, filter));
  }

  function notFoundResponse(site: Site, message: string): PageResponse {
    const content = html`<h1>Not found</h1><p>${message}</p>`;
    return {
      status: 404,
      type: HTML_CONTENT_TYPE,
      text: layout(site, { title: 'Not found', path: '/', content }).text,
    };
  }

  function unknownVersionResponse(site: Site): PageResponse {
    const { min, max } = api.versions;
    return notFoundResponse(site, `Unknown version. Supported versions: ${min.text} to ${max.text}.`);
  }

  function responseFor(path: string, query: URLSearchParams, base: string, req: IncomingMessage): PageResponse {
    const accept = String(req.headers.accept ?? '');
    const requestedVersion = query.get('version');
    const version: Version | undefined =
      requestedVersion === null ? api.versions.max : api.versions.find(requestedVersion);
    const site: Site = { api, links: createServerLinks(api, base), version: version ?? api.versions.max };
    if (path.startsWith('/assets/'))
      return assetResponse(path.slice('/assets/'.length)) ?? notFoundResponse(site, 'The file does not exist.');
    if (!version) return unknownVersionResponse(site);
    if (path === '/' || path === '') return pageResponse(site, '/', () => operationsPage(site));
    if (path === '/openapi.json') return { status: 200, type: 'application/json', text: api.documentText(version) };
    if (path === '/changes') return changesResponse(site, query, accept);
    if (path === '/versions.atom') {
      const text = versionsFeed(site, serverOrigin(req));
      return { status: 200, type: 'application/atom+xml; charset=utf-8', text };
    }
    if (path === '/style') return pageResponse(site, path, () => stylePage(`${base}/assets`));
    if (path === '/versions') {
      const hasChangeCounts = api.areChangesKnown;
      return pageResponse(site, hasChangeCounts ? '/versions?counts' : path, () => versionsPage(site, hasChangeCounts));
    }
    if (path === '/search') {
      const searchText = (query.get('q') ?? '').trim().slice(0, MAX_QUERY_LENGTH);
      return { status: 200, type: HTML_CONTENT_TYPE, text: searchPage(site, searchText).text };
    }
    const [, section, name = ''] = /^\/(operations|versions)\/([^/]+)$/.exec(path) ?? [];
    if (section === 'versions') {
      const pageVersion = api.versions.find(name);
      return pageVersion
        ? pageResponse({ ...site, version: pageVersion }, path, () => versionPage(site, pageVersion))
        : unknownVersionResponse(site);
    }
    const element = section === 'operations' ? api.histories.get(name) : undefined;
    return element
      ? pageResponse(site, path, () => operationPage(site, element))
      : notFoundResponse(site, 'The page does not exist.');
  }

  /**
   * Starts the computation that a page requires. Returns undefined if none is required or if its results are cached.
   */
  function startPreparation(path: string, query: URLSearchParams): Promise<void> | undefined {
    if (path === '/changes' || (path === '/versions' && query.has('counts'))) return api.prepare('versions');
    if (path === '/search') return api.prepare('search');
    if (/^\/(?:assets\/|style$|openapi\.json$|versions\.atom$)/.test(path)) return undefined;
    const text = /^\/versions\/([^/]+)$/.exec(path)?.[1] ?? query.get('version');
    return api.prepare(api.versions.find(text) ?? api.versions.max);
  }

  return function explorerPages(req, res, next) {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      if (next) return next();
      res.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end();
      return;
    }
    const mountPath = options.path ?? (req as { readonly baseUrl?: string }).baseUrl ?? '';
    const [pathname = '', queryString = ''] = (req.url ?? '/').split('?', 2);
    const isOutsideExpress = options.path !== undefined && (req as { readonly baseUrl?: string }).baseUrl === undefined;
    if (isOutsideExpress && pathname !== mountPath && !pathname.startsWith(`${mountPath}/`)) {
      if (next) return next();
      res.writeHead(404, { 'Content-Length': 0 }).end();
      return;
    }
    const path = isOutsideExpress ? pathname.slice(mountPath.length) : pathname;
    const query = new URLSearchParams(queryString);
    const respond = () => sendResponse(req, res, responseFor(path, query, mountPath, req), policy);
    const preparation = startPreparation(path, query);
    if (!preparation) return respond();
    preparation.then(respond).catch((error: Error) => (next ? next(error) : res.destroy(error)));
  };
}
