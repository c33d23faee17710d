// Includes parts of other files in pages, so that each fact and each program has one source. A page names the part in a
// comment, which GitHub does not show:
//   <!-- include examples/pytest/test_servers.py -->      the file, as code
//   <!-- include packages/quota/README.md ts -->          its first block of code in this language
//   <!-- include docs/style.md#glossary -->               the section below this heading
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { githubSlug } from './github-slug.mjs';

const LANGUAGES = {
  '.py': 'python',
  '.go': 'go',
  '.ts': 'ts',
  '.mjs': 'js',
  '.yaml': 'yaml',
  '.service': 'ini',
  '.tf': 'hcl',
};

/** Returns the text below a heading, up to the next heading of its level. */
function sectionOf(markdown, anchor) {
  const headings = [
    ...markdown.replace(/^```[\s\S]*?^```$/gm, (code) => ' '.repeat(code.length)).matchAll(/^(#+) (.*)$/gm),
  ];
  const start = headings.findIndex(([, , text]) => githubSlug(text) === anchor);
  if (start < 0) return;
  const [heading, marks] = headings[start];
  const end = headings.slice(start + 1).find(([, next]) => next.length <= marks.length);
  return markdown.slice(headings[start].index + heading.length, end?.index).trim();
}

/**
 * Returns the text that an `include` comment of a page refers to; undefined for other comments.
 * @returns Markdown, and the file that its links are relative to
 * @throws Error if the file does not contain the section or the code block that the comment names
 */
export function included(root, comment) {
  const [, file, anchor, language] = /^\s*include ([^\s#]+)(?:#(\S+))?(?: (\w+))?\s*$/.exec(comment) ?? [];
  if (!file) return;
  const text = readFileSync(join(root, file), 'utf8');
  const part = () => {
    if (anchor) return sectionOf(text, anchor);
    if (language) return new RegExp(`^\`\`\`${language}\\n[\\s\\S]*?^\`\`\`$`, 'm').exec(text)?.[0];
    return `\`\`\`${LANGUAGES[extname(file)] ?? 'text'} [${file}]\n${text.trimEnd()}\n\`\`\``;
  };
  const markdown = part();
  if (markdown === undefined) throw new Error(`${file} does not have the part of "<!--${comment}-->"`);
  return { file, markdown };
}
