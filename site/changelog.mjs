// The changelog of all packages: the next release, from the changesets, and each earlier release.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedFolders } from '../scripts/manifests.mjs';
import { ROOT } from './links.mjs';

const CHANGESETS = '.changeset';

/** Escapes text that Markdown outside code would read as an element. */
const escaped = (markdown) =>
  markdown
    .split(/(```[\s\S]*?```|`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&lbrace;&lbrace;')))
    .join('');

function unreleased() {
  const files = readdirSync(join(ROOT, CHANGESETS)).filter((file) => file.endsWith('.md'));
  return files.map((file) => {
    const [, head, text] = readFileSync(join(ROOT, CHANGESETS, file), 'utf8').split(/^---$/m);
    const packages = [...head.matchAll(/@apistrata\/([\w-]+)/g)].map(([, name]) => `\`${name}\``);
    return `**${packages.join(' ')}**\n\n${escaped(text.trim())}\n`;
  });
}

/** Returns the Markdown section of a package in the changelog page, with the releases under lower-level headings. */
function releasesOf(folder) {
  const file = join(ROOT, folder, 'CHANGELOG.md');
  if (!existsSync(file)) return [];
  const [, ...releases] = readFileSync(file, 'utf8').split(/^## /m);
  if (releases.length === 0) return [];
  return [
    `## ${folder.split('/')[1]}\n\n${releases.map((release) => `### ${escaped(release.replace(/^###/gm, '####'))}`).join('\n')}`,
  ];
}

/** Returns the page. */
export function changelogPage() {
  return `# Changelog

The changes that affect users, by release and package. [Support and versions](docs/support.md) describes what a version number promises.

## The next release

${unreleased().join('\n---\n\n')}
${publishedFolders().flatMap(releasesOf).join('\n')}`;
}
