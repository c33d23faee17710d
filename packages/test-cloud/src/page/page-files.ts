import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Asset, asset, uiAsset } from '@apistrata/ui';
import { STYLE } from './page-style.js';

/** The names of the pages' scripts, which are modules in the folder `browser`. */
const SCRIPTS = new Set([
  'clients',
  'clock',
  'compute',
  'consoles',
  'create-server',
  'elements',
  'events',
  'history',
  'operators',
  'page',
  'requests',
  'resources',
  'rules',
  'server-data',
  'server-detail',
  'servers',
  'sign-in',
  'views',
]);

const fileCache = new Map<string, Asset>();

async function scriptFile(name: string): Promise<Asset | undefined> {
  const script = name.replace(/\.js$/, '');
  if (script === name || !SCRIPTS.has(script)) return undefined;
  const path = fileURLToPath(new URL(`./browser/${script}.js`, import.meta.url));
  return asset('text/javascript; charset=utf-8', await readFile(path, 'utf8'));
}

/** Returns a file for a cloud's pages, such as `page.css`; undefined for unknown names. Reads each file only once. */
export async function pageFile(name: string): Promise<Asset | undefined> {
  const sharedFile = uiAsset(name) ?? fileCache.get(name);
  if (sharedFile) return sharedFile;
  const file = name === 'page.css' ? asset('text/css; charset=utf-8', STYLE) : await scriptFile(name);
  if (file) fileCache.set(name, file);
  return file;
}

/**
 * Returns the `Content-Security-Policy` header for the cloud's pages: no inline scripts or styles, no requests to other
 * servers.
 *
 * @param frames origins of the console pages that the cloud's page shows in frames. Default: none
 */
export function pagePolicy(...frames: readonly string[]): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    ...(frames.length > 0 ? [`frame-src ${frames.join(' ')}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
