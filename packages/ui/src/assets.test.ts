import { expect, it } from 'vitest';
import { tokensCss, uiAsset } from './assets.js';

it('returns the files of the design system with their digests', () => {
  expect(uiAsset('ui.css')?.text).toContain(tokensCss());
  expect(uiAsset('ui.js')?.type).toBe('text/javascript; charset=utf-8');
  expect(uiAsset('icon.svg')?.etag).toMatch(/^"[\w-]{22}"$/);
});

it('returns undefined for other names', () => {
  expect(uiAsset('../package.json')).toBeUndefined();
  expect(uiAsset('toString')).toBeUndefined();
});
