// Finds words that are neither English, nor in a technical dictionary of cspell, nor in the dictionary of the project.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getDefaultBundledSettingsAsync, getDictionary, mergeSettings, readSettings } from 'cspell-lib';
import { blank } from './passages.mjs';

/** The project's dictionary: one word per line, in groups that begin with a comment that says why they are allowed. */
export const PROJECT_WORDS = 'scripts/prose/words.txt';

/** The minimum length of checked words. Most shorter words are units, abbreviations and parts of names. */
const MIN_LENGTH = 3;

/** The cost that cspell assigns to a suggestion that differs in one letter. */
const ONE_LETTER_COST = 100;

/** Matches tokens that are code names, paths, addresses, options, numbers or escape sequences rather than words. */
const NON_WORD = /_|\d|[@\\=$]|^[#/-]|\w\.\w|[a-z]:\S|\/.*\//;

/**
 * @typedef {object} Vocabulary
 * @property {(word: string) => boolean} has
 * @property {(word: string) => string | undefined} similar
 * @property {(seen: ReadonlySet<string>) => readonly { readonly line: number, readonly problem: string }[]} unneeded
 */

/** @param {string} text */
function projectWords(text) {
  let hasReason = false;
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('#')) hasReason = true;
    if (line === '') hasReason = false;
    return line === '' || line.startsWith('#') ? [] : [{ word: line, line: index + 1, hasReason }];
  });
}

/**
 * Opens the dictionaries that `cspell.config.yaml` names.
 *
 * @param {string} root the folder of the configuration
 * @returns {Promise<Vocabulary>}
 */
export async function openVocabulary(root) {
  const settings = await readSettings(join(root, 'cspell.config.yaml'));
  const all = await getDictionary(mergeSettings(await getDefaultBundledSettingsAsync(), settings));
  const standard = all.dictionaries.filter(({ name }) => name !== 'apistrata');
  const own = projectWords(readFileSync(join(root, PROJECT_WORDS), 'utf8'));
  const options = { ignoreCase: true };
  /** @type {Map<string, boolean>} */
  const cache = new Map();
  return {
    has(word) {
      const isKnown = cache.get(word) ?? all.has(word, options);
      cache.set(word, isKnown);
      return isKnown;
    },
    similar(word) {
      const [best] = all.suggest(word, { numSuggestions: 1, ignoreCase: false });
      return best && best.cost <= ONE_LETTER_COST * Math.floor(word.length / 6) ? best.word : undefined;
    },
    unneeded: (seen) =>
      own.flatMap(({ word, line, hasReason }) => {
        if (!hasReason) return [{ line, problem: `"${word}" has no reason: begin its group with a comment` }];
        if (!seen.has(word.toLowerCase())) return [{ line, problem: `"${word}" is not used: remove it` }];
        const isStandard = standard.some((dictionary) => dictionary.has(word, options));
        return isStandard ? [{ line, problem: `"${word}" is in a dictionary of cspell: remove it` }] : [];
      }),
  };
}

/** Splits a name such as `readGuestBIOS` into words. */
const partsOf = (/** @type {string} */ name) => name.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);

/** Removes a possessive ending, and the plural "s" of an acronym. */
const baseOf = (/** @type {string} */ word) => word.replace(/['’]s?$/, '').replace(/^(\p{Lu}{2,})s$/u, '$1');

/**
 * Returns the unknown words of a passage, and adds all its words to `seen`, in lower case.
 *
 * @param {import('./passages.mjs').Passage} passage
 * @param {Vocabulary} vocabulary
 * @param {Set<string>} seen
 * @returns {{ readonly index: number, readonly word: string }[]}
 */
export function findUnknownWords({ kind, text, start, isCode }, vocabulary, seen) {
  if (isCode) return [];
  const isKnown = (/** @type {string} */ word) => {
    const base = baseOf(word);
    seen.add(base.toLowerCase());
    return base.length < MIN_LENGTH || vocabulary.has(base);
  };
  const prose = kind === 'comments' ? text.replace(/`[^`]*`/g, blank) : text.replace(/\\[nrt]/g, blank);
  const unescaped = prose.replaceAll("\\'", "'");
  return [...unescaped.matchAll(/[^\s"'`“”()[\]{}<>,;|]+(?:['’]\p{L}+)?/gu)].flatMap((token) => {
    if (NON_WORD.test(token[0])) return [];
    return [...token[0].matchAll(/\p{L}+(?:['’]\p{L}+)*/gu)].flatMap((match) => {
      const [name] = match;
      if (isKnown(name)) return [];
      const unknown = partsOf(name).filter((part) => !isKnown(part));
      return unknown.map((part) => ({ index: start + token.index + match.index, word: baseOf(part).toLowerCase() }));
    });
  });
}
