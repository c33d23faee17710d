import type { Version } from '@apistrata/microversion';
import {
  breakpointsOfOperation,
  existsAt,
  nameOf,
  type Operation,
  type OperationChange,
  type OperationShape,
  operationKey,
  operationShape,
  type Part,
  tagOf,
} from '@apistrata/microversion-router';
import { apiChanges } from './api-changes.js';
import type { VersionRange } from './versions.js';

/** An inclusive range of versions in which an element exists. */
export interface Span {
  readonly since: Version;
  readonly until: Version;
}

/** The history of an operation's part, such as a field: the versions in which it exists, and its last definition. */
export interface PartHistory {
  readonly name: string;
  readonly spans: readonly Span[];
  /** The part at the highest version in which it exists. */
  readonly last: Part;
}

/**
 * The history of an operation or shared schema. Usually, one definition covers all versions; sometimes, several
 * definitions each cover a range of versions.
 */
export class ElementHistory {
  readonly name: string;
  readonly key: string;
  readonly tag: string;
  readonly operations: readonly Operation[];
  readonly #range: VersionRange;
  #spans: readonly Span[] | undefined;
  #parts: ReadonlyMap<string, PartHistory> | undefined;
  #steps: readonly OperationChange[] | undefined;
  #breakpoints: ReadonlyMap<string, Version> | undefined;
  readonly #changes = new Map<string, OperationChange | undefined>();

  constructor(operations: readonly Operation[], range: VersionRange) {
    const first = operations[0] as Operation;
    this.operations = operations;
    this.name = nameOf(first);
    this.key = operationKey(first);
    this.tag = tagOf(first);
    this.#range = range;
  }

  /** Returns the definition at a version; undefined if the element does not exist in that version. */
  at(version: Version): { readonly operation: Operation; readonly shape: OperationShape } | undefined {
    for (const operation of this.operations) {
      const shape = operationShape(operation, version);
      if (shape) return { operation, shape };
    }
    return undefined;
  }

  /** Returns the definition at a version or, if the element does not exist in that version, its last definition. */
  definitionAt(version: Version): Operation {
    const present = this.operations.find((operation) => existsAt(operation, version));
    return present ?? (this.operations.at(-1) as Operation);
  }

  /** The versions at which the element may change, and the lowest version. */
  get breakpoints(): readonly Version[] {
    return [...this.#breakpointsByText.values()];
  }

  get #breakpointsByText(): ReadonlyMap<string, Version> {
    if (this.#breakpoints) return this.#breakpoints;
    const breakpoints = new Map([[this.#range.min.text, this.#range.min]]);
    for (const breakpoint of this.operations.flatMap(breakpointsOfOperation)) {
      const version = this.#range.firstAtOrAfter(breakpoint);
      if (version) breakpoints.set(version.text, version);
    }
    const sortedBreakpoints = [...breakpoints.values()].sort((a, b) => a.compare(b));
    return (this.#breakpoints = new Map(sortedBreakpoints.map((version) => [version.text, version])));
  }

  /** Returns whether the element may differ between this version and the previous one. */
  mayChangeAt(version: Version): boolean {
    return this.#breakpointsByText.has(version.text);
  }

  existsAt(version: Version): boolean {
    return this.operations.some((operation) => existsAt(operation, version));
  }

  /** The version ranges in which the element exists. */
  get spans(): readonly Span[] {
    this.#spans ??= this.#findSpans((version) => this.existsAt(version));
    return this.#spans;
  }

  #findSpans(exists: (version: Version) => boolean): readonly Span[] {
    const spans: Span[] = [];
    let since: Version | undefined;
    for (const version of this.breakpoints) {
      const present = exists(version);
      if (present) since ??= version;
      else if (since) {
        spans.push({ since, until: this.#range.before(version) as Version });
        since = undefined;
      }
    }
    if (since) spans.push({ since, until: this.#range.max });
    return spans;
  }

  /** The parts of all versions, by name. Parts of newer definitions come first. */
  get parts(): ReadonlyMap<string, PartHistory> {
    if (this.#parts) return this.#parts;
    const last = new Map<string, Part>();
    const shapes = new Map(this.breakpoints.map((version) => [version.text, this.at(version)?.shape]));
    for (const version of [...this.breakpoints].reverse()) {
      for (const [name, part] of shapes.get(version.text)?.parts ?? []) if (!last.has(name)) last.set(name, part);
    }
    this.#parts = new Map(
      [...last].map(([name, part]) => {
        const spans = this.#findSpans((version) => shapes.get(version.text)?.parts.has(name) ?? false);
        return [name, { name, spans, last: part }];
      }),
    );
    return this.#parts;
  }

  /** The changes at each version, lowest version first, including the addition of the element. */
  get steps(): readonly OperationChange[] {
    this.#steps ??= this.breakpoints.flatMap((version) => this.changeAt(version) ?? []);
    return this.#steps;
  }

  /** Returns the changes at a version; undefined if there are none. */
  changeAt(version: Version): OperationChange | undefined {
    if (!this.mayChangeAt(version)) return undefined;
    if (!this.#changes.has(version.text)) {
      const previousVersion = this.#range.before(version);
      this.#changes.set(version.text, previousVersion && apiChanges(this.operations, previousVersion, version)[0]);
    }
    return this.#changes.get(version.text);
  }
}
