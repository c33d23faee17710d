import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { API_REFERENCE } from '../api-reference.mjs';
import { EXPLORER } from '../explorer.mjs';
import { githubSlug } from '../github-slug.mjs';
import { REPOSITORY } from '../links.mjs';
import { addressOf, areas } from '../pages.mjs';

const itemOf = (page) => ({ text: page.text, link: addressOf(page) });

/**
 * Returns the entry of an area in the navigation bar, which is active on all pages in the folder of the area's first
 * page.
 */
function navItemOf({ text, groups }) {
  const link = addressOf(groups[0].pages[0]);
  return { text, link, activeMatch: `^/${link.split('/')[1]}/` };
}

/** The sidebar of an area: its groups, the same on each of its pages. */
const sidebars = areas.map(({ groups }) => {
  const sidebar = groups.map(({ text, pages }) => ({ text, items: pages.map(itemOf) }));
  return groups.flatMap(({ pages }) => pages.map((page) => [addressOf(page), sidebar]));
});

/** Returns the HTML of a page that the search indexes: none for the changelog, whose long sections contain every word. */
const renderForSearch = (markdown, env, renderer) =>
  env.relativePath === 'reference/changelog.md' ? '' : renderer.render(markdown, env);

/** The pages of the API reference: an entry for each entry point. */
const apiPages = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'dist', 'api-navigation.json'), 'utf8'));

const apiItems = (entries) =>
  entries.flatMap(({ title, path, children = [] }) => [
    ...(path
      ? [{ text: title.replace('@apistrata/', ''), link: `/${API_REFERENCE}/${path.replace(/\.md$/, '')}` }]
      : []),
    ...apiItems(children),
  ]);

const apiSidebar = [
  { text: 'Reference', items: [{ text: 'All references', link: '/reference/history' }] },
  { text: 'Names by entry point', items: apiItems(apiPages) },
];

/** Turns empty headers of columns, the corners of tables, into cells: screen readers would announce a header without text. */
function withPlainCorners({ tokens }) {
  tokens.forEach((token, index) => {
    if (token.type !== 'th_open' || tokens[index + 1].content.trim() !== '') return;
    token.tag = 'td';
    tokens[index + 2].tag = 'td';
  });
}

export default defineConfig({
  title: 'Apistrata',
  description: 'Express middleware for versioned APIs, and a complete compute API built from it',
  lang: 'en',
  srcDir: 'dist/pages',
  outDir: 'dist/public',
  cacheDir: 'dist/cache',
  cleanUrls: true,
  markdown: {
    anchor: { slugify: githubSlug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (renderer) => renderer.core.ruler.push('corners', withPlainCorners),
  },
  // The search index is a large chunk, which browsers load only at the first search.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  themeConfig: {
    logo: '/icon.svg',
    // The explorer consists of separate pages, which the router of the site cannot show.
    nav: [...areas.map(navItemOf), { text: 'Explorer', link: `/${EXPLORER}/`, target: '_self' }],
    sidebar: { ...Object.fromEntries(sidebars.flat()), [`/${API_REFERENCE}/`]: apiSidebar },
    outline: [2, 3],
    search: { provider: 'local', options: { _render: renderForSearch } },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: {
      pattern: ({ frontmatter }) => frontmatter.source,
      text: 'Source of this page',
    },
  },
});
