import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A static file that the pages load, such as the style sheet. */
export interface Asset {
  /** Value of the `Content-Type` header. */
  readonly type: string;
  readonly text: string;
  /** Value of the `ETag` header: a digest of the file's text. */
  readonly etag: string;
}

const readAsset = (name: string) => readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8');

/** Returns the custom properties of the design system as CSS, including the colors of the light and the dark scheme. */
export function tokensCss(): string {
  return readAsset('tokens.css');
}

/** The source files of the style sheet, in the order in which they are concatenated. */
const STYLE_FILES = ['tokens.css', 'base.css', 'components.css', 'code.css'];

const ASSET_FILES: Readonly<Record<string, { readonly type: string; readonly read: () => string }>> = {
  'ui.css': { type: 'text/css; charset=utf-8', read: () => STYLE_FILES.map(readAsset).join('\n') },
  'ui.js': { type: 'text/javascript; charset=utf-8', read: () => readAsset('ui.js') },
  'icon.svg': { type: 'image/svg+xml', read: () => readAsset('icon.svg') },
};

/** Creates an asset from its content type and text. */
export function asset(type: string, text: string): Asset {
  return { type, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

const cache = new Map<string, Asset>();

/**
 * Returns the asset with the name `ui.css`, `ui.js` or `icon.svg`, or undefined for other names. Files are read on
 * first use.
 */
export function uiAsset(name: string): Asset | undefined {
  const file = Object.hasOwn(ASSET_FILES, name) ? ASSET_FILES[name] : undefined;
  let found = cache.get(name);
  if (!found && file) cache.set(name, (found = asset(file.type, file.read())));
  return found;
}
