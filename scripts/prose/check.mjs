// `npm run prose`: checks the words in documents and sources against docs/style.md and the dictionaries that
// cspell.config.yaml names. `npm run prose -- --list PATH` shows all words to replace in files below a path.
import { readCheckedFiles } from './files.mjs';
import { findReplacedWords } from './find.mjs';
import { linesOf } from './passages.mjs';
import { findUnknownWords, openVocabulary, PROJECT_WORDS } from './vocabulary.mjs';

/** The repository root, which is the working directory of npm scripts. */
const ROOT = process.cwd();
/** The maximum number of findings of each kind that are shown. */
const MAX_SHOWN_FINDINGS = 15;

const [mode, pathPrefix = ''] = process.argv.slice(2);
const files = readCheckedFiles(ROOT);

const findings = files
  .filter(({ file, mayNameReplacedWords }) => !mayNameReplacedWords && file.startsWith(pathPrefix))
  .flatMap(({ file, text, passages }) => {
    const lineAt = linesOf(text);
    return passages
      .flatMap(findReplacedWords)
      .map(({ index, found, instead }) => `  ${file}:${lineAt(index)} "${found}" -> ${instead}`);
  });

function checkReplacedWords() {
  for (const line of findings.slice(0, MAX_SHOWN_FINDINGS)) console.error(line);
  if (findings.length === 0) return;
  process.exitCode = 1;
  console.error(`${findings.length} words to replace. See docs/style.md.`);
}

async function checkUnknownWords() {
  const vocabulary = await openVocabulary(ROOT);
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Map<string, string[]>} */
  const unknown = new Map();
  for (const { file, text, passages } of files) {
    const words = passages.flatMap((passage) => findUnknownWords(passage, vocabulary, seen));
    words.sort((a, b) => a.index - b.index);
    const lineAt = words.length > 0 ? linesOf(text) : () => 0;
    for (const { index, word } of words) {
      const places = unknown.get(word) ?? [];
      places.push(`${file}:${lineAt(index)}`);
      unknown.set(word, places);
    }
  }
  for (const [word, [first, ...more]] of [...unknown].slice(0, MAX_SHOWN_FINDINGS)) {
    const similar = vocabulary.similar(word);
    const others = more.length > 0 ? ` (and ${more.length} more)` : '';
    console.error(`  ${first} "${word}" is unknown${similar ? `; did you mean "${similar}"?` : ''}${others}`);
  }
  if (unknown.size > 0)
    console.error(
      `${unknown.size} unknown words. Use a word of docs/style.md or of English, or add the word to ${PROJECT_WORDS} with its reason.`,
    );
  const unneeded = vocabulary.unneeded(seen);
  for (const { line, problem } of unneeded) console.error(`  ${PROJECT_WORDS}:${line} ${problem}`);
  if (unknown.size + unneeded.length > 0) process.exitCode = 1;
}

if (mode === '--list') {
  for (const line of findings) console.log(line);
} else {
  checkReplacedWords();
  await checkUnknownWords();
  console.log(`${files.length} files`);
}
