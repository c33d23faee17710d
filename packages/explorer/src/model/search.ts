import type { Version } from '@apistrata/microversion';
import type { Api } from './api.js';
import type { Lifeline, PartLife } from './lifeline.js';
import { descriptionOf } from './rules-text.js';

/** An operation that a search found, with the parts of it that did. */
export interface Found {
  readonly line: Lifeline;
  readonly parts: readonly PartLife[];
}

/** Maximum number of operations in a result. */
const MOST = 50;

function matches(terms: readonly string[], ...texts: readonly (string | undefined)[]): boolean {
  const whole = texts
    .filter((text) => text !== undefined)
    .join(' ')
    .toLowerCase();
  return terms.every((term) => whole.includes(term));
}

/** Returns the rank of a match: names first, then descriptions, then fields. */
function rank({ line, parts }: Found, terms: readonly string[]): number {
  if (matches(terms, line.name, line.key)) return 0;
  return parts.length === 0 ? 1 : 2;
}

/** Returns the operations that contain all terms of a query in names, summaries, descriptions, fields or parameters. */
export function search(api: Api, question: string, version: Version): readonly Found[] {
  const terms = question
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '')
    .slice(0, 8);
  if (terms.length === 0) return [];
  const found = [...api.lifelines.values()].flatMap((line): Found[] => {
    const { summary } = line.shownAt(version);
    const description = line.at(version)?.outline.description;
    const own = matches(terms, line.name, line.key, line.tag, summary, description);
    const parts = [...line.parts.values()].filter(
      (part) => /^(?:body|query|reply)\b/.test(part.name) && matches(terms, part.name, descriptionOf(part.last)),
    );
    return own || parts.length > 0 ? [{ line, parts }] : [];
  });
  return found.sort((a, b) => rank(a, terms) - rank(b, terms)).slice(0, MOST);
}
