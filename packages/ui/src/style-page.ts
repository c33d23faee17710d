import { card, chip, codeBlock, facts, methodLabel, note, type Tone, tabs } from './components.js';
import { type Html, html } from './html.js';
import { header, page } from './page.js';

const CHIP_TONES: readonly Tone[] = ['plain', 'good', 'warn', 'bad', 'info'];
const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const CODE_SAMPLES = {
  curl: 'curl -sS -X POST \'http://127.0.0.1/v2.1/servers\' \\\n  -H "X-Auth-Token: $TOKEN"',
  JSON: '{\n  "server": { "name": "web", "locked": false, "vcpus": 2, "fault": null }\n}',
  Python: '# lists servers\nfor server in connection.compute.servers():\n    print(server.name, None, True)',
};

const SECTIONS: readonly (readonly [title: string, content: Html])[] = [
  [
    'Type',
    html`<h1>Heading 1</h1><h2>Heading 2</h2><h3>Heading 3</h3><h4>Heading 4</h4><p>A paragraph with <code>code</code>, <a href="#content">a link</a> and <kbd>/</kbd>.</p><p class="soft small">A quiet remark.</p>`,
  ],
  [
    'Chips',
    html`<p>${CHIP_TONES.map((tone) => html`${chip(tone, tone)} `)}</p><p>${HTTP_METHODS.map((method) => html`${methodLabel(method)} `)}</p>`,
  ],
  [
    'Buttons and fields',
    html`<p><button type="button" class="button-main">Main</button> <button type="button">Plain</button> <button type="button" class="button-quiet">Quiet</button> <a class="button" href="#content">Link</a></p><p><label>Text <input value="value"></label> <label>Choice <select><option>one</option><option>two</option></select></label> <label><input type="checkbox" checked> Check</label></p>`,
  ],
  ['Notes', html`${note('Information.')}${note('A warning.', 'warn')}${note('A failure.', 'bad')}`],
  ['Code', codeBlock(CODE_SAMPLES.JSON, 'JSON')],
  [
    'Tabs',
    tabs(
      Object.entries(CODE_SAMPLES).map(([label, code]) => ({ label, content: codeBlock(code, `the ${label} sample`) })),
      { name: 'samples', label: 'Language', remembered: true },
    ),
  ],
  ['Cards', card('Title', html`<pre tabindex="0">Content</pre>`)],
  [
    'Facts',
    facts([
      ['Version', '2.100'],
      ['Servers', 12],
      ['Uptime', '3 h'],
    ]),
  ],
  [
    'Tables',
    html`<div class="scroll"><table><thead><tr><th scope="col">Name</th><th scope="col">Status</th></tr></thead><tbody><tr><td>web</td><td class="good">ACTIVE</td></tr><tr><td>db</td><td class="bad">ERROR</td></tr></tbody></table></div>`,
  ],
];

/**
 * Renders a page that shows every component of the design system.
 *
 * @param assets URL path below which the assets are served, such as `/docs/assets`
 *
 * @example
 * ```ts
 * import { stylePage } from '@apistrata/ui';
 *
 * const text = stylePage('/assets').text; // a complete document
 * ```
 */
export function stylePage(assets: string): Html {
  const sections = SECTIONS.map(
    ([title, content]) =>
      html`<section aria-label="${title}"><p class="soft small">${title}</p>${content}<hr></section>`,
  );
  return page({
    title: 'Style',
    assets,
    header: header({ href: '#content', text: 'Style' }, [{ href: '#content', text: 'Components', current: true }]),
    body: html`<main class="page" id="content" tabindex="-1">${sections}</main>`,
  });
}
