import type { Api } from '../model/api.js';
import { IGNORED_WORDS, indexedWords } from '../model/search.js';
import { spanText } from '../pages/pieces.js';
import { operationFiles } from './static-links.js';

/** An operation or a version in the search data of a static site. Texts are words that are separated by spaces. */
interface SearchEntry {
  readonly id: string;
  readonly title: string;
  readonly href: string;
  /** Method and path, or the description of a version. */
  readonly detail: string;
  readonly window: string;
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: string;
  readonly statuses: string;
}

const distinctWords = (text: string) => [...new Set(indexedWords(text))].join(' ');

/** Returns an API's search data: its operations and versions with their words, and the words that a search ignores. */
export function createSearchData(api: Api): {
  readonly ignored: readonly string[];
  readonly entries: readonly SearchEntry[];
} {
  const operations = api.searchIndex.entries().flatMap(({ id, name, summary, description, fields, statuses }) => {
    const element = api.histories.get(id);
    const href = element && operationFiles(api, element).at(-1)?.file;
    if (!element || href === undefined) return [];
    return [
      {
        id,
        title: element.definitionAt(api.versions.max).summary,
        href,
        detail: element.key,
        window: spanText(api, element.spans) ?? '',
        name: distinctWords(name),
        summary: distinctWords(summary),
        description: distinctWords(description),
        fields: distinctWords(fields),
        statuses: distinctWords(statuses),
      },
    ];
  });
  const versions = api.versions.all.map(({ text }) => ({
    id: `version ${text}`,
    title: `Version ${text}`,
    href: `versions/${text}.html`,
    detail: api.options.history?.[text] ?? '',
    window: '',
    name: text,
    summary: '',
    description: distinctWords(api.options.history?.[text] ?? ''),
    fields: '',
    statuses: '',
  }));
  return { ignored: [...IGNORED_WORDS], entries: [...operations, ...versions] };
}
