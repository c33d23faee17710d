import { expect, it } from 'vitest';
import { html, prose } from './html.js';

it('escapes values, joins lists and omits absent values', () => {
  const list = ['<a>', '"', html`<b>&amp;</b>`];
  expect(html`<p title="${"it's"}">${list}${undefined}${null}${false}${0}</p>`.text).toBe(
    '<p title="it&#39;s">&lt;a&gt;&quot;<b>&amp;</b>0</p>',
  );
});

it('renders text between backticks as code', () => {
  expect(prose('Use `<id>` & wait')?.text).toBe('Use <code>&lt;id&gt;</code> &amp; wait');
  expect(prose(undefined)).toBeUndefined();
});
