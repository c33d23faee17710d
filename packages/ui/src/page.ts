import { type Html, html, type TemplateValue } from './html.js';

/** The content of a page, and the settings of the document around it. */
export interface PageParts {
  readonly title: string;
  /** URL path below which `ui.css`, `ui.js` and `icon.svg` are served, such as `/docs/assets`. */
  readonly assets: string;
  /**
   * Content security policy to include in the document, for pages that are stored as files. Default: none, because
   * servers send the policy as a header.
   */
  readonly policy?: string;
  /** Additional markup for the `head` element, such as style sheets and scripts that only this page uses. */
  readonly head?: TemplateValue;
  /** Attributes of the root element: `data-*` names and their values. */
  readonly data?: Readonly<Record<string, string>>;
  /** The header; see {@link header}. */
  readonly header: TemplateValue;
  readonly body: TemplateValue;
}

/** Renders a complete document. It contains no inline scripts or styles. */
export function page({ title, assets, policy, head, data = {}, header: top, body }: PageParts): Html {
  return html`<!doctype html>
<html lang="en"${Object.entries(data).map(([name, value]) => html` data-${name}="${value}"`)}>
<head>
<meta charset="utf-8">
${policy !== undefined && html`<meta http-equiv="Content-Security-Policy" content="${policy}">\n`}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/ui.css">
<script type="module" src="${assets}/ui.js"></script>
${head}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${top}
${body}
</body>
</html>
`;
}

const LOGO = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M1 11h14v3H1z"/><path fill="currentColor" opacity=".7" d="M3 6h10v3H3z"/><path fill="currentColor" opacity=".45" d="M5 1h6v3H5z"/></svg>`;

/** A link in the page header. */
export interface HeaderLink {
  readonly href: string;
  readonly text: string;
  /** Whether the link leads to the current page. */
  readonly current?: boolean;
}

/** The link to a site's home page, with the name of the site. */
export interface HomeLink extends HeaderLink {
  /** URL of an image that replaces the project logo. */
  readonly logo?: string;
}

/** Renders the page header that all pages share: site name, links, and other controls. */
export function header(home: HomeLink, links: readonly HeaderLink[], ...controls: readonly TemplateValue[]): Html {
  return html`<header class="top"><a class="brand" href="${home.href}">${home.logo === undefined ? LOGO : html`<img src="${home.logo}" alt="">`}<span>${home.text}</span></a>
${links.length > 0 && html`<nav aria-label="Sections">${links.map(({ href, text, current }) => html`<a href="${href}"${current && html` aria-current="page"`}>${text}</a>`)}</nav>`}
${controls}</header>`;
}
