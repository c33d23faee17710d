import type { Version } from '@apistrata/microversion';
import MiniSearch from 'minisearch';
import type { ExplorerOptions } from '../options.js';
import type { ElementHistory, PartHistory } from './element-history.js';
import type { Navigation } from './navigation.js';
import { descriptionOf } from './rules-text.js';
import type { VersionRange } from './versions.js';

/** The part of the API model that the search index uses. */
interface SearchedApi {
  readonly options: Pick<ExplorerOptions, 'description' | 'history'>;
  readonly versions: VersionRange;
  readonly histories: ReadonlyMap<string, ElementHistory>;
  readonly navigation: Pick<Navigation, 'title'>;
  isAlias(tag: string): boolean;
}

/** An operation that a search found, with the fields and parameters that match. */
export interface FoundOperation {
  readonly element: ElementHistory;
  readonly parts: readonly PartHistory[];
}

/** The result of a search. */
export interface SearchResult {
  readonly operations: readonly FoundOperation[];
  /** Versions that the query names, and versions whose description matches. */
  readonly versions: readonly Version[];
  /** The two lowest versions that the query names, for a comparison; undefined if it names fewer than two. */
  readonly comparedVersions: readonly [from: Version, to: Version] | undefined;
}

/** Maximum number of operations, and of versions, in a result. */
const MAX_RESULTS = 30;
/** Words that a search ignores, because they do not distinguish operations. */
export const IGNORED_WORDS: ReadonlySet<string> = new Set(
  'a an and are at be by can do does for from get has have how i in is it me my of on or that the their there to use version versions what when where which who why with'.split(
    ' ',
  ),
);

const camelCaseBoundary = /(?<=[a-z0-9])(?=[A-Z])/;

/** Splits a string into lower-case words. A camel-case name yields the whole name and its parts. */
function splitWords(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}.]+/u)
    .flatMap((word) => [
      word,
      ...(camelCaseBoundary.test(word) ? word.split(camelCaseBoundary) : []),
      ...word.split('.'),
    ])
    .map((word) => word.replace(/^\.+|\.+$/g, '').toLowerCase())
    .filter((word) => word !== '' && !IGNORED_WORDS.has(word));
}

/** Removes a plural `s`, so that `servers` and `server` match. */
const removePlural = (word: string) => (word.length > 3 ? word.replace(/(?<=[^s])s$/, '') : word);

/** Returns the words of a string in the normalized form that the search index contains. */
export function indexedWords(text: string): readonly string[] {
  return splitWords(text).map(removePlural);
}

const isField = ({ name }: PartHistory) => /^(?:body|query|header|reply)\b./.test(name);
const partText = (part: PartHistory) => `${part.name.replace(/^\w+\.?/, '')} ${descriptionOf(part.last) ?? ''}`;

/** The searchable texts of an operation. */
export interface IndexEntry {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: string;
  readonly statuses: string;
}

/**
 * A full-text index of an API's operations, fields and versions. It is built on the first search and tolerates typos.
 */
export class SearchIndex {
  readonly #api: SearchedApi;
  #operations: MiniSearch<IndexEntry> | undefined;
  #versions: MiniSearch<{ id: string; text: string }> | undefined;

  constructor(api: SearchedApi) {
    this.#api = api;
  }

  #createEntry(element: ElementHistory): IndexEntry {
    const operation = element.definitionAt(this.#api.versions.max);
    const generalCauses = this.#api.options.description?.errors ?? {};
    const shape = element.at(this.#api.versions.max)?.shape;
    const causes = (shape?.errors ?? []).map(
      (status) => `${status} ${operation.when?.[status] ?? generalCauses[status] ?? ''}`,
    );
    return {
      id: element.name,
      name: `${element.name} ${element.key}`,
      summary: `${operation.summary} ${this.#api.navigation.title(element.tag)}`,
      description: shape?.description ?? '',
      fields: [...element.parts.values()].filter(isField).map(partText).join(' '),
      statuses: causes.join(' '),
    };
  }

  get #operationIndex(): MiniSearch<IndexEntry> {
    for (const _ of this.preparation());
    return this.#operations as MiniSearch<IndexEntry>;
  }

  /** Builds the index, one operation per step. */
  *preparation(): Generator<void> {
    if (this.#operations) return;
    const index = new MiniSearch<IndexEntry>({
      fields: ['name', 'summary', 'description', 'fields', 'statuses'],
      tokenize: splitWords,
      processTerm: removePlural,
    });
    for (const element of this.#listedElements) yield index.add(this.#createEntry(element));
    this.#operations = index;
  }

  get #listedElements(): readonly ElementHistory[] {
    return [...this.#api.histories.values()].filter(({ tag }) => !this.#api.isAlias(tag));
  }

  /** Returns the searchable texts of each operation. */
  entries(): readonly IndexEntry[] {
    return this.#listedElements.map((element) => this.#createEntry(element));
  }

  get #versionIndex(): MiniSearch<{ id: string; text: string }> {
    if (this.#versions) return this.#versions;
    const index = new MiniSearch<{ id: string; text: string }>({
      fields: ['id', 'text'],
      tokenize: splitWords,
      processTerm: removePlural,
    });
    index.addAll(Object.entries(this.#api.options.history ?? {}).map(([id, text]) => ({ id, text })));
    return (this.#versions = index);
  }

  /** Returns the operations and versions that contain the words of a query, best matches first. */
  search(searchText: string): SearchResult {
    const namedVersions = splitWords(searchText).flatMap((word) => this.#api.versions.find(word) ?? []);
    const words = splitWords(searchText).filter((word) => !this.#api.versions.find(word));
    const query = words.join(' ');
    const options = {
      prefix: true,
      fuzzy: (term: string) => (/^[a-z_]{4,}$/.test(term) ? (term.length < 5 ? 1 : 2) : false),
      boost: { name: 4, summary: 6, description: 2 },
    } as const;
    const findMatches = <T>(index: MiniSearch<T>) => {
      const all = index.search(query, { ...options, combineWith: 'AND' });
      return (all.length > 0 ? all : index.search(query, options)).slice(0, MAX_RESULTS);
    };
    const [first, second] = [...new Set(namedVersions)].sort((a, b) => a.compare(b));
    if (query === '') {
      return {
        operations: [],
        versions: namedVersions,
        comparedVersions: first && second ? [first, second] : undefined,
      };
    }
    const operations = findMatches(this.#operationIndex).flatMap(({ id, match }): FoundOperation[] => {
      const element = this.#api.histories.get(String(id));
      const terms = Object.entries(match).flatMap(([term, fields]) => (fields.includes('fields') ? [term] : []));
      return element ? [{ element, parts: this.#findMatchingParts(element, terms) }] : [];
    });
    const versions = findMatches(this.#versionIndex).flatMap(({ id }) => this.#api.versions.find(String(id)) ?? []);
    const comparedVersions = first && second ? ([first, second] as const) : undefined;
    return { operations, versions: [...new Set([...namedVersions, ...versions])], comparedVersions };
  }

  /**
   * Returns the parts that contain the terms, best matches first. A term in the last segment of a part's name counts
   * three times as much as elsewhere.
   */
  #findMatchingParts(element: ElementHistory, terms: readonly string[]): readonly PartHistory[] {
    if (terms.length === 0) return [];
    const matches = [...element.parts.values()].filter(isField).flatMap((part) => {
      const segmentWords = new Set(splitWords(part.name.slice(part.name.lastIndexOf('.') + 1)).map(removePlural));
      const all = new Set(splitWords(partText(part)).map(removePlural));
      const rank =
        terms.filter((term) => all.has(term)).length + 2 * terms.filter((term) => segmentWords.has(term)).length;
      return rank > 0 ? [{ part, rank }] : [];
    });
    return matches.sort((a, b) => b.rank - a.rank).map(({ part }) => part);
  }
}
