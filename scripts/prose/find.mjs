// Finds, in the passages of a file, words for which docs/style.md prescribes other words.
import { blank } from './passages.mjs';
import { LOCAL_NAMES, NAME_PARTS, ORIGINAL_MESSAGES, RULES } from './rules.mjs';

/** @typedef {{ readonly kind: import('./passages.mjs').Kind, readonly index: number, readonly found: string, readonly instead: string }} Finding */

/** @param {import('./passages.mjs').Passage} passage */
function findInName({ kind, text, start }) {
  const parts = text.split(/(?=[A-Z])|[^A-Za-z]/);
  const isAvoided = parts.some((part) => NAME_PARTS.has(part.toLowerCase()));
  return isAvoided ? [{ kind, index: start, found: text, instead: 'see the glossary' }] : [];
}

/** @param {import('./passages.mjs').Passage} passage */
function findInLocal({ kind, text, start }) {
  const isAvoided = LOCAL_NAMES.has(text);
  return isAvoided ? [{ kind, index: start, found: text, instead: 'a noun that says what the value is' }] : [];
}

/** @param {import('./passages.mjs').Passage} passage */
function findInText({ kind, text, start }) {
  // A phrase may continue on the next line, after a comment marker.
  const joined = text
    .replace(/\n\s*(?:\*(?!\/)|\/\/|#:?)?/g, blank)
    .replace(/\n/g, ' ')
    .replace(ORIGINAL_MESSAGES, blank);
  return RULES.flatMap(({ pattern, instead }) =>
    [...joined.matchAll(pattern)].map((match) => ({
      kind,
      index: start + match.index,
      found: match[0].replace(/\s+/g, ' '),
      instead,
    })),
  );
}

/**
 * Returns the words of a passage that docs/style.md replaces.
 *
 * @param {import('./passages.mjs').Passage} passage
 * @returns {Finding[]}
 */
export function findReplacedWords(passage) {
  if (passage.kind === 'names') return findInName(passage);
  return passage.kind === 'locals' ? findInLocal(passage) : findInText(passage);
}
