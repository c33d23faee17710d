// Writes the pages of the site, from the Markdown of the repository and from its sources, into the folder that VitePress reads.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageDiagram } from '../scripts/diagrams/packages.mjs';
import { API_REFERENCE, writeApiReference } from './api-reference.mjs';
import { breakingChanges } from './breaking-changes.mjs';
import { changelogPage } from './changelog.mjs';
import { configurationPage } from './configuration.mjs';
import { fromSources } from './from-sources.mjs';
import { forSite, REPOSITORY, ROOT } from './links.mjs';
import { pages } from './pages.mjs';

const BUILT = join(import.meta.dirname, 'dist');

/** The folder with the generated Markdown. */
export const STAGED = join(BUILT, 'pages');

/** Pages that are not Markdown in the repository, by their addresses. */
const generated = {
  'operating/configuration': configurationPage,
  'reference/changelog': changelogPage,
};

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Copies a file of the repository to its location in the site. */
function publish(file, name = file.replace(/^docs\//, '')) {
  cpSync(join(ROOT, file), join(STAGED, 'public', name));
}

/** Replaces each diagram that follows a comment `<!-- on the site: PATH -->` with the site's picture at that path. */
function withPictures(markdown) {
  return markdown.replace(
    /^<!-- on the site: (\S+) -->\n```mermaid\n[\s\S]*?^```$/gm,
    '<p><img src="/$1" alt="Diagram"></p>',
  );
}

function stagePage({ source, path }, sources) {
  const generate = generated[path];
  const markdown = generate ? generate(sources) : withPictures(readFileSync(join(ROOT, source), 'utf8'));
  const head = path === 'index' ? '' : `---\nsource: ${JSON.stringify(`${REPOSITORY}/blob/main/${source}`)}\n---\n\n`;
  // Links in generated pages are relative to the root of the repository.
  write(
    join(STAGED, `${path}.md`),
    head + forSite(generate ? 'package.json' : source, markdown, (image) => publish(image)),
  );
}

/** Writes all pages. Returns the sources of the generated pages. */
export async function stage() {
  rmSync(BUILT, { recursive: true, force: true });
  const sources = await fromSources();
  write(join(BUILT, 'breaking-changes.json'), JSON.stringify(breakingChanges(sources)));
  const own = pages.filter(({ path }) => !path.startsWith(API_REFERENCE));
  for (const page of [...own, { source: 'site/home.md', path: 'index' }]) stagePage(page, sources);
  await writeApiReference(join(STAGED, API_REFERENCE), join(BUILT, 'api-navigation.json'));
  write(join(STAGED, 'public', 'images', 'packages.svg'), packageDiagram());
  publish('packages/ui/assets/icon.svg', 'icon.svg');
  publish('docs/images/quick-start.svg');
  publish('docs/operating/config.schema.json');
  return sources;
}
