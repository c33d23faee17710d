import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** A block of code on a page. */
export interface ShownBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** Content of the comment before the block; empty without one. */
  readonly comment: string;
}

const isPage = (file: string) => file.endsWith('.md') && existsSync(join(root, file));
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

/** The pages of the documentation: README files and `docs/`. */
export function documentPages(): readonly string[] {
  const readmes = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}/README.md`),
  );
  return ['README.md', 'CONTRIBUTING.md', ...readmes, ...filesIn('docs')].filter(isPage);
}

/** The blocks of code on a page, in their order. */
export function blocksOf(page: string): readonly ShownBlock[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = text.matchAll(/(?:<!-- ((?:(?!-->)[\s\S])*?)\s*-->\n+)?^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm);
  return [...blocks].map(({ index, 0: whole, 1: comment = '', 2: language = '', 3: code = '' }) => ({
    page,
    line: text.slice(0, index + whole.indexOf('```')).split('\n').length,
    language,
    code,
    comment,
  }));
}

/** Programs in Python and Go that tests run. */
export function testedPrograms(): readonly string[] {
  return ['packages/test-cloud/test/apart/readme', 'examples/pytest', 'examples/go']
    .flatMap(filesIn)
    .filter((file) => /\.(?:py|go)$/.test(file))
    .map((file) => readFileSync(join(root, file), 'utf8'));
}

/** The commands of a shell block: its lines without output, joined where a line continues. */
export function commandsOf({ language, code }: ShownBlock): readonly string[] {
  const lines = code.replaceAll('\\\n', ' ').split('\n');
  if (language !== 'console') return lines;
  return lines.flatMap((line) => (line.startsWith('$ ') ? line.slice(2) : []));
}
