import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { DocumentError } from '../documents/document-error.js';
import type { ApiDocument } from '../documents/documented-api.js';

type JsonContainer = Readonly<Record<string, unknown>> | readonly unknown[];

/** The document field that contains the referenced files, by path. */
const FILES_FIELD = 'x-files';

async function parseFile(file: string, label: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DocumentError(
      code === 'ENOENT' ? `The file ${label} does not exist` : `Cannot read ${label}: ${message}`,
    );
  }
  try {
    if (/^\s*[{[]/.test(text)) return JSON.parse(text) as unknown;
    const { parse } = await import('yaml');
    return parse(text, { maxAliasCount: -1, merge: true, version: '1.2', uniqueKeys: false }) as unknown;
  } catch (error) {
    throw new DocumentError(`${label} is not valid JSON or YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

const isContainer = (value: unknown): value is JsonContainer => typeof value === 'object' && value !== null;

/** Returns whether a value contains a reference to another file. */
function hasExternalReference(value: JsonContainer): boolean {
  return Object.entries(value).some(([key, inner]) =>
    key === '$ref' && typeof inner === 'string'
      ? !inner.startsWith('#')
      : isContainer(inner) && hasExternalReference(inner),
  );
}

/** Copies the files that a document references into that document. */
class FileInclusion {
  readonly #main: string;
  readonly #files = new Map<string, unknown>();

  constructor(main: string) {
    this.#main = main;
  }

  async include(document: JsonContainer): Promise<JsonContainer> {
    const rewrittenDocument = await this.#rewrite(document, this.#main);
    return { ...rewrittenDocument, [FILES_FIELD]: Object.fromEntries(this.#files) };
  }

  async #rewrite(value: JsonContainer, file: string): Promise<JsonContainer> {
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(isContainer(item) ? await this.#rewrite(item, file) : item);
      return items;
    }
    const result: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') result[key] = await this.#reference(inner, file);
      else result[key] = isContainer(inner) ? await this.#rewrite(inner, file) : inner;
    }
    return result;
  }

  async #reference(reference: string, from: string): Promise<string> {
    const [path = '', pointer = ''] = reference.split('#', 2);
    if (/^[a-z]+:\/\//i.test(path))
      throw new DocumentError(`${from} refers to ${path}: download it, and refer to the file`);
    const file = path === '' ? from : resolve(dirname(from), decodeURIComponent(path));
    if (file === this.#main) return `#${pointer}`;
    const name = relative(dirname(this.#main), file);
    if (!this.#files.has(name)) {
      // Registered before the file is read, because files can refer to each other.
      this.#files.set(name, {});
      const content = await parseFile(file, `${name}, to which ${relative(process.cwd(), from)} refers,`);
      this.#files.set(name, isContainer(content) ? await this.#rewrite(content, file) : content);
    }
    const token = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
    return `#/${FILES_FIELD}/${token}${pointer}`;
  }
}

/**
 * Reads an OpenAPI document in JSON or YAML, including the files that it references.
 *
 * @throws DocumentError if a file does not exist or is malformed
 */
async function readDocument(path: string): Promise<unknown> {
  const file = resolve(path);
  const document = await parseFile(file, path);
  return isContainer(document) && hasExternalReference(document) ? new FileInclusion(file).include(document) : document;
}

/** Reads an OpenAPI document from `FILE`, or from `VERSION=FILE`, where VERSION replaces `info.version`. */
export async function readVersionedDocument(text: string): Promise<ApiDocument & { readonly label: string }> {
  const [, version, label = text] = /^([^=/\\]+)=(.+)$/.exec(text) ?? [];
  return { document: await readDocument(label), label, ...(version !== undefined && { version }) };
}

/** Reads the OpenAPI documents of several versions. */
export async function readDocuments(files: readonly string[]): Promise<readonly ApiDocument[]> {
  const documents: ApiDocument[] = [];
  for (const each of files) documents.push(await readVersionedDocument(each));
  return documents;
}
