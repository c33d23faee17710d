import { type HeaderLink, type HomeLink, type Html, header, html, page, type TemplateValue } from '@apistrata/ui';

/** A view of the page. The page shows one view at a time, and has a link to each view. */
export interface PageView {
  /** The name of the view in the URL: `#NAME`. */
  readonly name: string;
  /** The text of the link to the view. */
  readonly text: string;
  readonly content: Html;
  /** Whether the view is visible before scripts select a view. Default: false. */
  readonly initial?: boolean;
  /** Whether only administrators see the link. Default: false. */
  readonly admin?: boolean;
}

/** The settings and contents of a cloud's page. */
export interface CloudPageParts {
  readonly title: string;
  readonly home: HomeLink;
  readonly links: readonly HeaderLink[];
  /** The path of the page's files. */
  readonly assets: string;
  /** The name of the page's script. */
  readonly script: string;
  /** The settings that the page's scripts read. */
  readonly data: Readonly<Record<string, string>>;
  /** Additional controls in the header. */
  readonly controls?: TemplateValue;
  /** The content above the views. */
  readonly first?: TemplateValue;
  readonly views: readonly PageView[];
}

/** Renders a table without rows. Scripts add the rows. */
export function table(name: string, label: string, columns: readonly string[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table of ${label}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody id="${name}"></tbody>
</table></div>`;
}

/** Renders a cloud's page, which contains the views and the details of an item. Scripts show one view at a time. */
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
