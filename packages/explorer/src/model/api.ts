import type { Version } from '@apistrata/microversion';
import {
  type OpenApiDocuments,
  type Operation,
  type OperationChange,
  openApiDocuments,
  operationKey,
} from '@apistrata/microversion-router';
import { SHARED_SCHEMA_TAG } from '../documents/shared-schemas.js';
import { type ExplorerOptions, versionsOf } from '../options.js';
import { apiChanges } from './api-changes.js';
import { ElementHistory } from './element-history.js';
import { runInSlices } from './in-slices.js';
import { Navigation } from './navigation.js';
import { SearchIndex } from './search.js';
import type { VersionRange } from './versions.js';

/** The API model from which pages are rendered. Histories, changes and documents are computed on first use. */
export class Api {
  readonly title: string;
  readonly options: ExplorerOptions;
  readonly versions: VersionRange;
  /** Histories of operations and shared schemas by name, in the order of the operations. */
  readonly histories: ReadonlyMap<string, ElementHistory>;
  readonly navigation: Navigation;
  readonly searchIndex: SearchIndex;
  readonly #documents: OpenApiDocuments;
  readonly #preparedKeys = new Set<string>();
  readonly #preparations = new Map<string, Promise<void>>();
  readonly #byKey: ReadonlyMap<string, ElementHistory>;

  constructor(options: ExplorerOptions) {
    this.options = options;
    this.title = options.title ?? options.description?.title ?? 'API';
    this.versions = versionsOf(options);
    const byKey = new Map<string, Operation[]>();
    for (const operation of options.operations) {
      const key = operationKey(operation);
      const cached = byKey.get(key);
      if (cached) cached.push(operation);
      else byKey.set(key, [operation]);
    }
    this.histories = new Map(
      [...byKey.values()].map((operations) => {
        const element = new ElementHistory(operations, this.versions);
        return [element.name, element] as const;
      }),
    );
    this.#byKey = new Map([...this.histories.values()].map((element) => [element.key, element]));
    const listedElements = [...this.histories.values()].filter(
      ({ tag }) => !this.isAlias(tag) && tag !== SHARED_SCHEMA_TAG,
    );
    this.navigation = new Navigation(listedElements, options.groups);
    this.searchIndex = new SearchIndex(this);
    this.#documents = openApiDocuments(options.operations, { ...options.description, title: this.title });
  }

  /** Returns the OpenAPI document for a version as JSON. */
  documentText(version: Version): string {
    return this.options.documents?.(version.text) ?? this.#documents.text(version, this.server || undefined);
  }

  /** Returns the history of all operations that have the same method, path and action as the given one. */
  historyOf(operation: Operation): ElementHistory | undefined {
    return this.#byKey.get(operationKey(operation));
  }

  /** Returns the history of a shared schema; undefined if the schema has no page. */
  schemaHistory(name: string): ElementHistory | undefined {
    return this.#byKey.get(`SCHEMA ${name}`);
  }

  /** Returns whether a tag's operations duplicate those of another tag. */
  isAlias(tag: string): boolean {
    return Object.hasOwn(this.options.tagAliases ?? {}, tag);
  }

  /** Returns, in navigation order, the changes between two versions, without operations that repeat others. */
  changes(from: Version, to: Version): readonly OperationChange[] {
    const changes = this.allChanges(from, to).filter(({ tag }) => !this.isAlias(tag));
    return this.navigation.sortByTag(changes, ({ tag }) => tag);
  }

  /** Returns, in navigation order, the changes at a version, without operations that repeat others. */
  changesAt(version: Version): readonly OperationChange[] {
    const changes = [...this.histories.values()].flatMap((element) =>
      this.isAlias(element.tag) ? [] : (element.changeAt(version) ?? []),
    );
    return this.navigation.sortByTag(changes, ({ tag }) => tag);
  }

  /**
   * Computes, for all operations, the data that a page requires: the changes at a version, the changes at all versions,
   * or the search index. Yields to the event loop regularly. Returns undefined if the data is already computed.
   */
  prepare(target: Version | 'versions' | 'search'): Promise<void> | undefined {
    const key = typeof target === 'string' ? target : target.text;
    if (this.#preparedKeys.has(key)) return undefined;
    let preparation = this.#preparations.get(key);
    if (!preparation) {
      preparation = runInSlices(this.#preparationSteps(target)).then(() => void this.#preparedKeys.add(key));
      this.#preparations.set(key, preparation);
    }
    return preparation;
  }

  /** Whether the changes in all versions have been computed. */
  get areChangesKnown(): boolean {
    return this.#preparedKeys.has('versions');
  }

  *#preparationSteps(target: Version | 'versions' | 'search'): Generator<void> {
    for (const element of this.histories.values()) {
      if (this.isAlias(element.tag)) continue;
      for (const version of typeof target === 'string' ? element.breakpoints : [target])
        yield void element.changeAt(version);
    }
    if (target === 'search') yield* this.searchIndex.preparation();
  }

  /** Returns the changes between two versions, including changes of operations that repeat other operations. */
  allChanges(from: Version, to: Version): readonly OperationChange[] {
    return apiChanges(this.options.operations, from, to);
  }

  /** The base of the operations' paths: a URL, or a path on the server that serves the pages. */
  get server(): string {
    return (this.options.server ?? '').replace(/\/$/, '');
  }
}
