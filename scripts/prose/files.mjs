// The files whose words `npm run prose` checks.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGES } from './languages.mjs';
import { passagesOfConfiguration, passagesOfMarkdown, passagesOfSource, passagesOfTypeScript } from './passages.mjs';

/** Functions that find the prose and names in a file. The first entry whose pattern matches the file's path applies. */
const PASSAGE_READERS = [
  // Files for operators: dashboards, alert rules, systemd units.
  { files: /^docs\/operating\/.*\.(?:json|yaml|service)$/, read: passagesOfConfiguration },
  { files: /\.md$/, read: passagesOfMarkdown },
  { files: /\.(?:ts|mts|js|mjs|cjs)$/, read: passagesOfTypeScript },
  ...LANGUAGES.map(({ files, ...syntax }) => ({
    files,
    read: (/** @type {string} */ text) => passagesOfSource(text, syntax),
  })),
];

/**
 * Returns the function that finds the prose and names in a file; undefined for data, such as recorded responses and
 * facts in JSON.
 *
 * @param {string} file
 */
const readerOf = (file) => PASSAGE_READERS.find(({ files }) => files.test(file))?.read;

/**
 * Files that we do not write ourselves: facts and recorded responses of the original API, figures, lock files and
 * changelogs.
 */
const GENERATED_FILES =
  /^reference\/|^bench\/RESULTS\.md$|^pnpm-lock\.yaml$|(?:CHANGELOG\.md|recorded-examples\.ts|\.d\.ts)$/;

/** Files whose strings are test data, which users do not see. */
const TEST_FILES = /\.test\.|_test\.go$|(?:^|\/)test_\w+\.py$|\/test\/|^testing\//;

/** Files whose strings are programs in other languages: Lua, nftables rules, `ip` commands, assembly. */
const FILES_WITH_PROGRAM_STRINGS =
  /^packages\/quota\/src\/redis\/|^packages\/qemu\/src\/network\/(?:guest-rules|router-rules|ipv6-rules|network-builder|desired-links|forwarding-entries)\.ts$|^packages\/qemu\/src\/programs\/probe-guest\.ts$/;

/** The style guide, this check and its test, which contain the words to avoid. */
const FILES_WITH_REPLACED_WORDS = /^docs\/style\.md$|^testing\/prose\.test\.ts$|^scripts\/prose\//;

/**
 * @typedef {object} CheckedFile
 * @property {string} file its path
 * @property {string} text
 * @property {readonly import('./passages.mjs').Passage[]} passages
 * @property {boolean} mayNameReplacedWords
 */

/** @param {string} file */
function fileNamePassage(file) {
  return { kind: /** @type {const} */ ('names'), text: file.replace(/\.\w+$/, '').replaceAll(/[/.]/g, ' '), start: 0 };
}

/**
 * Reads the files of a repository that contain prose or names.
 *
 * @param {string} root
 * @returns {CheckedFile[]}
 */
export function readCheckedFiles(root) {
  const options = ['--cached', '--others', '--exclude-standard'];
  const tracked = execFileSync('git', ['ls-files', ...options], { cwd: root, encoding: 'utf8' }).split('\n');
  const files = tracked.filter((file) => readerOf(file) && !GENERATED_FILES.test(file) && existsSync(join(root, file)));
  return files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const found = readerOf(file)?.(text) ?? [];
    const areData = TEST_FILES.test(file) || FILES_WITH_PROGRAM_STRINGS.test(file);
    const passages = found.map((passage) => ({
      ...passage,
      isCode: passage.isCode || (areData && passage.kind === 'strings'),
    }));
    return {
      file,
      text,
      passages: [...passages, fileNamePassage(file)],
      mayNameReplacedWords: FILES_WITH_REPLACED_WORDS.test(file),
    };
  });
}
