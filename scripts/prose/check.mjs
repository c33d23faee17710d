// `npm run prose`: compares the words of documents and sources with docs/style.md. `npm run prose -- --write` lowers the
// budgets to what is left; `npm run prose -- --list PATH` shows every finding below a path.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exceeded, lowered } from './budget.mjs';
import { findInMarkdown, findInTypeScript } from './find.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const BUDGETS = join(import.meta.dirname, 'budgets.json');
/** Findings shown for each key over budget. */
const SHOWN = 15;

const [mode, below] = process.argv.slice(2);
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\n');
// The style guide and the test of this check name the words to avoid. Facts, results of benchmarks and changelogs are generated.
const files = tracked.filter(
  (file) =>
    /\.(?:md|ts|mts|js|mjs)$/.test(file) &&
    !/^(?:reference\/|docs\/style\.md$|bench\/RESULTS\.md$|testing\/prose\.test\.ts$|scripts\/prose\/)/.test(file) &&
    !/(?:CHANGELOG\.md|recorded-examples\.ts|\.d\.ts)$/.test(file) &&
    (below === undefined || file.startsWith(below)) &&
    existsSync(join(ROOT, file)),
);

/** @param {string} file */
function ownerOf(file) {
  const [folder = '', name = ''] = file.split('/');
  return folder === 'packages' || folder === 'examples' ? name : file.includes('/') ? folder : 'root';
}

const findings = files.flatMap((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const isDocument = file.endsWith('.md');
  return (isDocument ? findInMarkdown(text) : findInTypeScript(text)).map((finding) => ({
    ...finding,
    file,
    key: isDocument ? (file.startsWith('.changeset/') ? '.changeset/*.md' : file) : `${ownerOf(file)} ${finding.kind}`,
  }));
});

const line = (/** @type {(typeof findings)[number]} */ { file, line, found, instead }) =>
  `  ${file}:${line} "${found}" -> ${instead}`;

if (mode === '--list') {
  for (const finding of findings) console.log(line(finding));
} else {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { key } of findings) counts[key] = (counts[key] ?? 0) + 1;
  const isFirst = !existsSync(BUDGETS);
  const budgets = isFirst ? counts : JSON.parse(readFileSync(BUDGETS, 'utf8'));
  if (mode === '--write') writeFileSync(BUDGETS, `${JSON.stringify(lowered(counts, budgets), null, 2)}\n`);
  for (const key of exceeded(counts, budgets)) {
    process.exitCode = 1;
    console.error(`${key}: ${counts[key]} findings, at most ${budgets[key] ?? 0} allowed. See docs/style.md.`);
    for (const finding of findings.filter((each) => each.key === key).slice(0, SHOWN)) console.error(line(finding));
  }
  console.log(`${files.length} files, ${findings.length} words to replace (docs/style.md)`);
}
