import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { pages } from '../site/pages.mjs';

const root = join(import.meta.dirname, '..');

/** All documents that are pages of the site, by their paths. */
function documents(): readonly string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`);
  const readmes = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`);
  return ['README.md', 'CONTRIBUTING.md', ...docs, ...readmes].filter(
    (file) => file.endsWith('.md') && existsSync(join(root, file)),
  );
}

/** The other documents that readers find in the repository. */
function otherDocuments(): readonly string[] {
  const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`);
  return ['SECURITY.md', 'CODE_OF_CONDUCT.md', ...examples];
}

/** Files that a document refers to: by links, and by paths that are written as code and begin at the root. */
function filesNamedIn(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, to]) =>
    join(dirname(file), to ?? ''),
  );
  const paths = [...text.matchAll(/`((?:packages|testing|docs|examples|reference|scripts|bench)\/[\w./-]*\w)`/g)];
  // `examples/go/v0.1.0` is a tag.
  return [...links, ...paths.map(([, path]) => path ?? '')].filter((named) => !/\/v\d+\.\d+\.\d+$/.test(named));
}

describe('the documents', () => {
  it.each([...documents(), ...otherDocuments()])('%s refers only to existing files', (file) => {
    expect(filesNamedIn(file).filter((named) => !existsSync(join(root, named)))).toEqual([]);
  });

  it('are pages of the site, each in the sidebar', () => {
    const sources: ReadonlySet<string> = new Set(pages.map(({ source }: { source: string }) => source));
    expect(documents().filter((file) => !sources.has(file))).toEqual([]);
  });
});
