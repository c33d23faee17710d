import { type Version, Window } from '@apistrata/microversion';
import {
  describedOperation,
  type Json,
  type Operation,
  type OperationShape,
  type OperationSummary,
} from '@apistrata/microversion-router';
import type { ExplorerOptions } from '../options.js';
import { DocumentError } from './document-error.js';
import { documentShape, schemaShape } from './document-shape.js';
import { type VersionedDocument, versionedDocuments } from './document-versions.js';
import { type DocumentOperation, OpenApiDocument, objectOrEmpty } from './openapi-document.js';
import { plainText, titleFromDescription } from './plain-text.js';
import { SHARED_SCHEMA_TAG, sharedSchemas } from './shared-schemas.js';

/** The OpenAPI document for one version of an API. */
export interface ApiDocument {
  /** The parsed document: OpenAPI 3.0 or 3.1, without references to other files. */
  readonly document: unknown;
  /** The version: `MAJOR.MINOR`, semver, a date or an integer. Default: `info.version` of the document. */
  readonly version?: string;
  /** Name of the document for messages, such as the path of its file. Default: `document 1`, `document 2` and so on. */
  readonly label?: string;
}

/** The `explorer()` options that OpenAPI documents define. */
export type DocumentedApi = Pick<
  ExplorerOptions,
  'operations' | 'versions' | 'title' | 'description' | 'server' | 'documents'
>;

/** An operation in the document of one version. */
interface OperationOccurrence extends VersionedDocument {
  readonly found: DocumentOperation;
}

/** Matches path segments that do not indicate an operation's purpose. */
const GENERIC_SEGMENT = /^(?:v\d+\w*|apis?|rest|\{.*\})?$/;

/** Returns the versions at which a value is added, removed or changed. */
function breakpointsOf(
  versions: readonly Version[],
  digestsByVersion: ReadonlyMap<string, string>,
): readonly Version[] {
  return versions.filter((version, index) => {
    const previous = versions[index - 1];
    return previous !== undefined && digestsByVersion.get(version.text) !== digestsByVersion.get(previous.text);
  });
}

/** Returns the version ranges in which a value exists; undefined if it exists in all versions. */
function presenceWindows(versions: readonly Version[], present: ReadonlySet<string>): OperationSummary['window'] {
  if (present.size === versions.length) return undefined;
  const windows: Window<true>[] = [];
  versions.forEach((version, index) => {
    if (!present.has(version.text) || present.has(versions[index - 1]?.text ?? '')) return;
    const end = versions.slice(index).find(({ text }) => !present.has(text));
    windows.push(new Window(index === 0 ? undefined : version, undefined, true as const, end));
  });
  return windows;
}

/** Creates a function that converts operation names to unique names that are valid in URLs. */
function createUniqueNames(): (name: string) => string {
  const usedNames = new Set<string>();
  return (name) => {
    const urlName = name.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'operation';
    let unique = urlName;
    for (let number = 2; usedNames.has(unique); number += 1) unique = `${urlName}-${number}`;
    usedNames.add(unique);
    return unique;
  };
}

function tagOfOperation({ path, operation }: DocumentOperation): string {
  const [tag] = Array.isArray(operation.tags) ? (operation.tags as unknown[]) : [];
  return String(tag ?? path.split('/').find((segment) => !GENERIC_SEGMENT.test(segment)) ?? 'operations');
}

function slugOf({ method, path }: DocumentOperation): string {
  return `${method.toLowerCase()} ${path}`.replaceAll(/[^A-Za-z0-9]+/g, '-');
}

function statusTexts(document: OpenApiDocument, { operation }: DocumentOperation): Record<number, string> {
  const entries = Object.entries(objectOrEmpty(operation.responses)).flatMap(([status, response]) => {
    const text = /^\d+$/.test(status) ? plainText(document.dereference(response).description) : undefined;
    return text === undefined ? [] : [[Number(status), text] as const];
  });
  return Object.fromEntries(entries);
}

function createOperation(
  occurrences: ReadonlyMap<string, OperationOccurrence>,
  versions: readonly Version[],
  nameOf: (name: string) => string,
): Operation {
  const { document, found } = [...occurrences.values()].at(-1) as OperationOccurrence;
  const { operation, path, method } = found;
  const digestsByVersion = new Map(
    [...occurrences].map(([text, each]) => [
      text,
      each.document.digest([each.found.operation, each.found.item.parameters]),
    ]),
  );
  const id = typeof operation.operationId === 'string' ? operation.operationId : slugOf(found);
  return describedOperation(
    {
      method,
      path,
      name: nameOf(id),
      tag: tagOfOperation(found),
      summary: plainText(operation.summary) ?? titleFromDescription(operation.description) ?? `${method} ${path}`,
      when: statusTexts(document, found),
      window: presenceWindows(versions, new Set(occurrences.keys())),
    },
    breakpointsOf(versions, digestsByVersion),
    (version) => {
      const { document: own, found: each } = occurrences.get(version.text) as OperationOccurrence;
      return documentShape(own, each, path);
    },
  );
}

function createSchemaOperation(
  { name, sent, received }: { readonly name: string; readonly sent: boolean; readonly received: boolean },
  documents: readonly VersionedDocument[],
  nameOf: (name: string) => string,
): Operation {
  const versions = documents.map(({ version }) => version);
  const byVersion = new Map(
    documents.flatMap(({ version, document }) =>
      document.schemas[name] === undefined ? [] : [[version.text, document] as const],
    ),
  );
  const digestsByVersion = new Map(
    [...byVersion].map(([text, document]) => [text, document.digest(document.schemas[name])]),
  );
  return describedOperation(
    {
      method: 'SCHEMA',
      path: name,
      name: nameOf(`schema-${name}`),
      tag: SHARED_SCHEMA_TAG,
      summary: name,
      window: presenceWindows(versions, new Set(byVersion.keys())),
    },
    breakpointsOf(versions, digestsByVersion),
    (version): OperationShape => schemaShape(byVersion.get(version.text) as OpenApiDocument, name, sent, received),
  );
}

/** Returns the URL of a document's first server if the URL is absolute and contains no variables. */
function serverOf(document: OpenApiDocument): string | undefined {
  const [first] = Array.isArray(document.root.servers) ? (document.root.servers as unknown[]) : [];
  const { url } = objectOrEmpty(first);
  return typeof url === 'string' && /^https?:\/\/[^{}]+$/.test(url) ? url.replace(/\/$/, '') : undefined;
}

function tagTexts(document: OpenApiDocument): Readonly<Record<string, string>> {
  const tags = Array.isArray(document.root.tags) ? (document.root.tags as Json[]) : [];
  return Object.fromEntries(tags.map(({ name, description }) => [String(name), plainText(description) ?? '']));
}

/**
 * Returns the `explorer()` options for an API with one OpenAPI document per version. The history of each operation,
 * parameter, field and status is the difference between consecutive documents.
 *
 * @throws DocumentError if a document is not OpenAPI 3.0 or 3.1, if a reference cannot be resolved, or if versions are
 *   malformed, repeated or in different formats
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { documentedApi, explorer } from '@apistrata/explorer';
 *
 * const read = (file: string) => ({ document: JSON.parse(readFileSync(file, 'utf8')), label: file });
 * const api = () => documentedApi(['2025-03-01.json', '2026-11-22.json'].map(read));
 * const docs = () => explorer({ ...api(), title: 'Invoices' });
 * ```
 */
export function documentedApi(documents: readonly ApiDocument[]): DocumentedApi {
  if (documents.length === 0) throw new DocumentError('At least one OpenAPI document is required');
  const orderedDocuments = versionedDocuments(
    documents.map(({ document, version, label }, index) => ({
      document: new OpenApiDocument(document, label ?? `document ${index + 1}`),
      name: version,
    })),
  );
  const versions = orderedDocuments.map(({ version }) => version);
  const occurrences = new Map<string, Map<string, OperationOccurrence>>();
  for (const each of orderedDocuments) {
    for (const found of each.document.operations()) {
      // Clients do not depend on the names of path parameters.
      const key = `${found.method} ${found.path.replace(/\{[^}]*\}/g, '{}')}`;
      const byVersion = occurrences.get(key) ?? new Map<string, OperationOccurrence>();
      occurrences.set(key, byVersion.set(each.version.text, { ...each, found }));
    }
  }
  const nameOf = createUniqueNames();
  const { document: newest } = orderedDocuments.at(-1) as VersionedDocument;
  const operations = [
    ...[...occurrences.values()].map((each) => createOperation(each, versions, nameOf)),
    ...sharedSchemas(orderedDocuments.map(({ document }) => document)).map((schema) =>
      createSchemaOperation(schema, orderedDocuments, nameOf),
    ),
  ];
  const server = serverOf(newest);
  const schemes = objectOrEmpty(objectOrEmpty(newest.root.components).securitySchemes);
  const documentByVersion = new Map(orderedDocuments.map(({ version, document }) => [version.text, document]));
  return {
    operations,
    versions,
    title: String(newest.info.title ?? 'API'),
    description: {
      title: String(newest.info.title ?? 'API'),
      ...(newest.info.description !== undefined && { description: plainText(newest.info.description) ?? '' }),
      tags: tagTexts(newest),
      securitySchemes: Object.fromEntries(
        Object.entries(schemes).map(([name, scheme]) => [name, newest.dereference(scheme)]),
      ),
    },
    ...(server !== undefined && { server }),
    documents: (version) => JSON.stringify((documentByVersion.get(version) as OpenApiDocument).root),
  };
}
