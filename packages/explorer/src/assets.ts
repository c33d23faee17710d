import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asset, uiAsset } from '@apistrata/ui';
import type { ExplorerOptions } from './options.js';
import { createThemeCss, logoName } from './theme.js';

const CSS_CONTENT_TYPE = 'text/css; charset=utf-8';
const JAVASCRIPT_CONTENT_TYPE = 'text/javascript; charset=utf-8';

/** The explorer's asset files, each with its source files. All other assets belong to the design system. */
const ASSETS: Readonly<Record<string, { readonly type: string; readonly parts: readonly string[] }>> = {
  'explorer.css': { type: CSS_CONTENT_TYPE, parts: ['layout.css', 'lists.css', 'operation.css', 'request-form.css'] },
  'explorer.js': { type: JAVASCRIPT_CONTENT_TYPE, parts: ['explorer.js'] },
  'try.js': { type: JAVASCRIPT_CONTENT_TYPE, parts: ['try.js'] },
};

/** Names of the assets that every page loads. */
export const ASSET_NAMES = ['ui.css', 'ui.js', 'icon.svg', ...Object.keys(ASSETS)];

/** Returns the content of a file in the `assets` folder. */
export function assetFile(name: string): string {
  return readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8');
}

/** An asset that pages load. */
export interface ExplorerAsset {
  readonly type: string;
  readonly text: string | Uint8Array;
  readonly etag: string;
}

/**
 * Returns the asset with the given name; undefined if the name is unknown. The color theme and the logo come from the
 * options.
 */
export function explorerAsset(name: string, { colors, logo }: ExplorerOptions): ExplorerAsset | undefined {
  if (colors && name === 'theme.css') return asset(CSS_CONTENT_TYPE, createThemeCss(colors));
  if (logo && name === logoName(logo)) {
    const digest = createHash('sha256').update(logo.content).digest('base64url');
    return { type: logo.type, text: logo.content, etag: `"${digest.slice(0, 22)}"` };
  }
  const assetDefinition = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  return assetDefinition ? asset(assetDefinition.type, assetDefinition.parts.map(assetFile).join('\n')) : uiAsset(name);
}
