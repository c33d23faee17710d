import type { Version } from '@apistrata/microversion';
import {
  breakpointsOfOperation,
  changesBetween,
  existsAt,
  nameOf,
  type Operation,
  type OperationChange,
  type Outline,
  operationKey,
  outlineOf,
  type Part,
  tagOf,
} from '@apistrata/microversion/router';
import type { VersionRange } from './versions.js';

/** From the first version that has something to the last one, both included. */
export interface Span {
  readonly since: Version;
  readonly until: Version;
}

/** A part of an operation over all versions: where it exists, and what it was at last. */
export interface PartLife {
  readonly name: string;
  readonly spans: readonly Span[];
  /** As it is at the highest version that has it. */
  readonly last: Part;
}

/** Everything that is served under one name over the versions: usually one definition, sometimes several in succession. */
export class Lifeline {
  readonly name: string;
  readonly key: string;
  readonly tag: string;
  readonly operations: readonly Operation[];
  readonly #range: VersionRange;
  #spans: readonly Span[] | undefined;
  #parts: ReadonlyMap<string, PartLife> | undefined;
  #steps: readonly OperationChange[] | undefined;

  constructor(operations: readonly Operation[], range: VersionRange) {
    const first = operations[0] as Operation;
    this.operations = operations;
    this.name = nameOf(first);
    this.key = operationKey(first);
    this.tag = tagOf(first);
    this.#range = range;
  }

  /** The definition of a version; undefined where there is none. */
  at(version: Version): { readonly operation: Operation; readonly outline: Outline } | undefined {
    for (const operation of this.operations) {
      const outline = outlineOf(operation, version);
      if (outline) return { operation, outline };
    }
    return undefined;
  }

  /** The definition to describe it by: that of the version, else the last one. */
  shownAt(version: Version): Operation {
    const present = this.operations.find((operation) => existsAt(operation, version));
    return present ?? (this.operations.at(-1) as Operation);
  }

  /** The versions at which it may change, and the lowest one. */
  get #turns(): readonly Version[] {
    const turns = new Map([[this.#range.min.text, this.#range.min]]);
    for (const version of this.operations.flatMap(breakpointsOfOperation))
      if (version.within(this.#range.min, this.#range.max)) turns.set(version.text, version);
    return [...turns.values()].sort((a, b) => a.compare(b));
  }

  /** Whether anything may be different from the version before. */
  turnsAt(version: Version): boolean {
    return this.operations.some((operation) => breakpointsOfOperation(operation).some((v) => v.text === version.text));
  }

  existsAt(version: Version): boolean {
    return this.operations.some((operation) => existsAt(operation, version));
  }

  /** Where the operation itself exists. */
  get spans(): readonly Span[] {
    this.#spans ??= this.#spansOf((version) => this.existsAt(version));
    return this.#spans;
  }

  #spansOf(exists: (version: Version) => boolean): readonly Span[] {
    const spans: Span[] = [];
    let since: Version | undefined;
    for (const version of this.#turns) {
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

  /** Every part that it ever has, by name, in the order of the last definition that has it. */
  get parts(): ReadonlyMap<string, PartLife> {
    if (this.#parts) return this.#parts;
    const last = new Map<string, Part>();
    const outlines = new Map(this.#turns.map((version) => [version.text, this.at(version)?.outline]));
    for (const version of [...this.#turns].reverse()) {
      for (const [name, part] of outlines.get(version.text)?.parts ?? []) if (!last.has(name)) last.set(name, part);
    }
    this.#parts = new Map(
      [...last].map(([name, part]) => {
        const spans = this.#spansOf((version) => outlines.get(version.text)?.parts.has(name) ?? false);
        return [name, { name, spans, last: part }];
      }),
    );
    return this.#parts;
  }

  /** What each step to another version changed, lowest first; the coming of the operation itself included. */
  get steps(): readonly OperationChange[] {
    this.#steps ??= this.#turns.flatMap((version) => this.changeAt(version) ?? []);
    return this.#steps;
  }

  /** What the step to a version changed; undefined where nothing did. */
  changeAt(version: Version): OperationChange | undefined {
    const before = this.#range.before(version);
    if (!before || !this.turnsAt(version)) return undefined;
    return changesBetween(this.operations, before, version)[0];
  }
}
