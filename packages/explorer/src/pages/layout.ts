import { type Hole, type Html, html } from '../html.js';
import { linkTo, type Site } from './site.js';

export interface Page {
  readonly title: string;
  /** Path of the page below the mount, for the version picker, which stays on it. */
  readonly path: string;
  /** Parameters that the version picker keeps. */
  readonly keep?: Readonly<Record<string, string>>;
  readonly content: Hole;
}

function versionPicker({ api, base, version }: Site, { path, keep = {} }: Page): Html {
  const { all } = api.versions;
  return html`<form class="versions" method="get" action="${base}${path}" data-versions>
${Object.entries(keep).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="version">Version</label>
<select id="version" name="version">${all.map(
    (each) => html`<option${each === version && html` selected`}>${each.text}</option>`,
  )}</select>
<button type="submit">Show</button>
</form>`;
}

const SECTIONS = [
  ['/', 'Operations'],
  ['/versions', 'Versions'],
  ['/changes', 'Compare'],
] as const;

/** Renders a complete page around its content. */
export function layout(site: Site, page: Page): Html {
  const { api, base, version } = site;
  const sections = SECTIONS.map(([path, name]) => {
    const here = page.path === path && html` aria-current="page"`;
    return html`<a href="${linkTo(site, path)}"${here}>${name}</a>`;
  });
  return html`<!doctype html>
<html lang="en" data-base="${base}" data-server="${api.server}" data-version="${version.text}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · ${api.title} ${version.text}</title>
<link rel="icon" href="${base}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/assets/explorer.css">
<script src="${base}/assets/explorer.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<div class="bar">
<a class="name" href="${linkTo(site, '/')}">${api.title}</a>
<nav aria-label="Sections">${sections}<a href="${base}/openapi.json?version=${version.text}">OpenAPI</a></nav>
<form class="search" role="search" method="get" action="${base}/search">
<input type="hidden" name="version" value="${version.text}">
<label class="unseen" for="q">Search operations and fields</label>
<input id="q" name="q" type="search" placeholder="Search (press /)" autocomplete="off">
</form>
</div>
${versionPicker(site, page)}
</header>
<main id="content" tabindex="-1">
${page.content}
</main>
</body>
</html>
`;
}
