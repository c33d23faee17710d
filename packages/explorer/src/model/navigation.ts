import type { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion-router';
import type { OperationGroup } from '../options.js';
import type { ElementHistory } from './element-history.js';

/** An operation in the navigation. */
export interface NavigationEntry {
  readonly element: ElementHistory;
  /** The change at the selected version; undefined if the operation did not change. */
  readonly change: OperationChange | undefined;
}

/** A tag in the navigation, with its operations. */
export interface NavigationTag {
  readonly tag: string;
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/** A navigation section, with the tags that have operations at a version. */
export interface NavigationSection {
  readonly title: string;
  readonly collapsed: boolean;
  readonly tags: readonly NavigationTag[];
}

/** Returns a readable title for a tag: `Server groups` for `server-groups`. */
function tagTitle(tag: string): string {
  const words = tag.replaceAll(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The navigation of an API: its sections, and the order and titles of its tags. */
export class Navigation {
  readonly #sections: readonly {
    readonly group: OperationGroup;
    readonly elements: ReadonlyMap<string, readonly ElementHistory[]>;
  }[];
  readonly #titles: ReadonlyMap<string, string>;

  constructor(elements: readonly ElementHistory[], groups: readonly OperationGroup[] = []) {
    const byTag = new Map<string, ElementHistory[]>();
    for (const element of elements) byTag.set(element.tag, [...(byTag.get(element.tag) ?? []), element]);
    const groupedTags = new Set(groups.flatMap(({ tags }) => Object.keys(tags)));
    const ungroupedTags = [...byTag.keys()].filter((tag) => !groupedTags.has(tag));
    const defaultGroup: OperationGroup = {
      title: 'Operations',
      tags: Object.fromEntries(ungroupedTags.map((tag) => [tag, tagTitle(tag)])),
    };
    const sections = ungroupedTags.length > 0 ? [defaultGroup, ...groups] : groups;
    this.#sections = sections.map((group) => ({
      group,
      elements: new Map(Object.keys(group.tags).map((tag) => [tag, byTag.get(tag) ?? []])),
    }));
    this.#titles = new Map(sections.flatMap(({ tags }) => Object.entries(tags)));
  }

  /** Returns the title of a tag. */
  title(tag: string): string {
    return this.#titles.get(tag) ?? tagTitle(tag);
  }

  /** Returns the sections with the operations that exist at a version or were removed in it. */
  at(version: Version): readonly NavigationSection[] {
    return this.#sections.flatMap(({ group, elements }): NavigationSection[] => {
      const tags = [...elements].flatMap(([tag, all]): NavigationTag[] => {
        const entries = all
          .map((element) => ({ element, change: element.changeAt(version) }))
          .filter(({ element, change }) => change || element.existsAt(version));
        return entries.length > 0 ? [{ tag, title: this.title(tag), entries }] : [];
      });
      return tags.length > 0 ? [{ title: group.title, collapsed: group.collapsed ?? false, tags }] : [];
    });
  }

  /** Returns items in the order of their tags. */
  sortByTag<T>(items: readonly T[], tagOf: (item: T) => string): readonly T[] {
    const order = new Map([...this.#titles.keys()].map((tag, index) => [tag, index]));
    const rank = (item: T) => order.get(tagOf(item)) ?? order.size;
    return [...items].sort((a, b) => rank(a) - rank(b));
  }
}
