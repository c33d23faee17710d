import { type HeaderLink, type HomeLink, type Html, header, html, page, type TemplateValue } from '@apistrata/ui';

/** A view of a page. Views are shown one at a time, and each has a link. */
export interface PageView {
  /** Name in the address: `#NAME`. */
  readonly name: string;
  /** Text of the link. */
  readonly text: string;
  readonly content: Html;
  /** Whether the view is visible before a script selects a view. Default: false. */
  readonly initial?: boolean;
  /** Whether only administrators see the link. Default: false. */
  readonly admin?: boolean;
}

/** The parts of a cloud's page. */
export interface CloudPageParts {
  readonly title: string;
  readonly home: HomeLink;
  readonly links: readonly HeaderLink[];
  /** Path of the files of the page. */
  readonly assets: string;
  /** Name of the page's script. */
  readonly script: string;
  /** Settings for the scripts. */
  readonly data: Readonly<Record<string, string>>;
  /** Additional controls of the header. */
  readonly controls?: TemplateValue;
  /** Content above the views. */
  readonly first?: TemplateValue;
  readonly views: readonly PageView[];
}

/** Renders a table whose rows the scripts fill. */
export function table(name: string, label: string, columns: readonly string[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table of ${label}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody id="${name}"></tbody>
</table></div>`;
}

/** Renders the page of a cloud: views, which scripts show one at a time, and the detail of an item. */
export function cloudPage(parts: CloudPageParts): string {
  const { title, home, links, assets, script, data, controls, first, views } = parts;
  return page({
    title,
    assets,
    data,
    head: html`<link rel="stylesheet" href="${assets}/page.css">
<script type="module" src="${assets}/${script}.js"></script>
`,
    header: header(
      home,
      links,
      html`<p id="counts" role="status"></p>`,
      controls,
      html`<label><input type="checkbox" id="live" checked> Live</label>`,
    ),
    body: html`<nav class="views" aria-label="Views">
${views.map(({ name, text, admin }) => html`<a href="#${name}" data-view="${name}"${admin && html` data-admin`}>${text} <span class="count"></span></a>\n`)}</nav>
<main id="content" tabindex="-1">
<h1 class="unseen">${title}</h1>
${first}
<div id="views">
${views.map(
  (view) => html`<section id="view-${view.name}" aria-labelledby="${view.name}-title"${!view.initial && html` hidden`}>
<h2 id="${view.name}-title">${view.text}</h2>
${view.content}
</section>\n`,
)}</div>
<aside id="detail" aria-labelledby="detail-title" hidden>
<div class="bar"><h2 id="detail-title" tabindex="-1"></h2><a id="close" class="button" href="#${views[0]?.name}" title="Escape">Close</a></div>
<div id="detail-body"></div>
</aside>
</main>`,
  }).text;
}
