import type { Version } from '@apistrata/microversion';
import {
  changesBetween,
  type OpenApiDocuments,
  type Operation,
  type OperationChange,
  openApiDocuments,
  operationKey,
} from '@apistrata/microversion/router';
import type { ExplorerOptions } from '../options.js';
import { Lifeline } from './lifeline.js';
import { VersionRange } from './versions.js';

/** An API as the pages show it. Everything is computed on first use. */
export class Api {
  readonly title: string;
  readonly options: ExplorerOptions;
  readonly versions: VersionRange;
  /** By name, in the order of the operations. */
  readonly lifelines: ReadonlyMap<string, Lifeline>;
  readonly documents: OpenApiDocuments;

  constructor(options: ExplorerOptions) {
    this.options = options;
    this.title = options.title ?? options.description?.title ?? 'API';
    this.versions = new VersionRange(options.min, options.max);
    const byKey = new Map<string, Operation[]>();
    for (const operation of options.operations) {
      const key = operationKey(operation);
      const known = byKey.get(key);
      if (known) known.push(operation);
      else byKey.set(key, [operation]);
    }
    this.lifelines = new Map(
      [...byKey.values()].map((operations) => {
        const line = new Lifeline(operations, this.versions);
        return [line.name, line] as const;
      }),
    );
    this.documents = openApiDocuments(options.operations, { ...options.description, title: this.title });
  }

  /** The operations that exist at a version or went with the step to it, by tag. */
  byTagAt(version: Version): ReadonlyMap<string, readonly { line: Lifeline; change: OperationChange | undefined }[]> {
    const groups = new Map<string, { line: Lifeline; change: OperationChange | undefined }[]>();
    for (const line of this.lifelines.values()) {
      const change = line.changeAt(version);
      if (!line.existsAt(version) && !change) continue;
      const group = groups.get(line.tag);
      if (group) group.push({ line, change });
      else groups.set(line.tag, [{ line, change }]);
    }
    return groups;
  }

  changes(from: Version, to: Version): readonly OperationChange[] {
    return changesBetween(this.options.operations, from, to);
  }

  /** Where requests go: an address, or a path of the server that serves the pages. */
  get server(): string {
    return (this.options.server ?? '').replace(/\/$/, '');
  }
}
