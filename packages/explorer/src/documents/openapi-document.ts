import { createHash } from 'node:crypto';
import type { Json } from '@apistrata/microversion-router';
import { DocumentError } from './document-error.js';

/** An operation in an OpenAPI document, with its path item. */
export interface DocumentOperation {
  readonly method: string;
  readonly path: string;
  readonly item: Json;
  readonly operation: Json;
}

const HTTP_METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];
const SCHEMA_PREFIX = '#/components/schemas/';
/**
 * The number of nested references that a digest follows: a response, its schema, and the schemas that the pages expand.
 */
const DIGEST_DEPTH = 6;
const REFERENCE_PATTERN = /"\$ref":"((?:[^"\\]|\\.)*)"/g;

/** Returns a value if it is an object, otherwise an empty object. */
export function objectOrEmpty(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Returns the name of the shared schema to which a reference points; undefined for other references. */
export function sharedSchemaName(reference: string): string | undefined {
  return reference.startsWith(SCHEMA_PREFIX) ? unescapeToken(reference.slice(SCHEMA_PREFIX.length)) : undefined;
}

function unescapeToken(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** An OpenAPI 3.0 or 3.1 document without references to other files. */
export class OpenApiDocument {
  readonly root: Json;
  /** Name of the document for messages, such as the path of its file. */
  readonly label: string;
  readonly #digests = new Map<string, string>();
  readonly #schemaReferences = new Map<string, readonly string[]>();

  /** @throws DocumentError if the value is not an OpenAPI document of version 3 */
  constructor(root: unknown, label: string) {
    const { swagger, openapi, paths, webhooks, components } = objectOrEmpty(root);
    if (swagger !== undefined)
      throw new DocumentError(
        `${label} is a Swagger ${swagger} document: convert it to OpenAPI 3 first, for example with npx swagger2openapi`,
      );
    if (typeof openapi !== 'string' || !/^3\.\d/.test(openapi))
      throw new DocumentError(
        openapi === undefined
          ? `${label} is not an OpenAPI document: it has no field "openapi"`
          : `${label} has the unsupported OpenAPI version ${JSON.stringify(openapi)}: use 3.0 or 3.1`,
      );
    if ((paths ?? webhooks ?? components) === undefined)
      throw new DocumentError(`${label} has no field "paths": it describes no operation`);
    this.root = root as Json;
    this.label = label;
  }

  get info(): Json {
    return objectOrEmpty(this.root.info);
  }

  /**
   * Returns the value to which a reference points.
   *
   * @throws DocumentError if the value does not exist or is in another file
   */
  resolve(reference: string): unknown {
    if (!reference.startsWith('#'))
      throw new DocumentError(`${this.label}: the reference "${reference}" points outside the document`);
    let value: unknown = this.root;
    for (const token of reference.split('/').slice(1)) {
      const key = unescapeToken(token);
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
        throw new DocumentError(`${this.label}: the reference "${reference}" points to a value that does not exist`);
      value = (value as Json)[key];
    }
    return value;
  }

  /** Returns an object; for a reference, the object to which it points. */
  dereference(value: unknown): Json {
    let object = objectOrEmpty(value);
    const seen = new Set<string>();
    while (typeof object.$ref === 'string') {
      if (seen.has(object.$ref))
        throw new DocumentError(`${this.label}: the reference "${object.$ref}" points to itself`);
      seen.add(object.$ref);
      object = objectOrEmpty(this.resolve(object.$ref));
    }
    return object;
  }

  /** Returns the document's operations, in the order in which the document contains them. */
  operations(): readonly DocumentOperation[] {
    return Object.entries(objectOrEmpty(this.root.paths)).flatMap(([path, value]) => {
      const item = this.dereference(value);
      return HTTP_METHODS.flatMap((method): DocumentOperation[] =>
        item[method] === undefined
          ? []
          : [{ method: method.toUpperCase(), path, item, operation: objectOrEmpty(item[method]) }],
      );
    });
  }

  get schemas(): Json {
    return objectOrEmpty(objectOrEmpty(this.root.components).schemas);
  }

  /** Returns a digest of a value and of the values to which it refers, for comparison between documents. */
  digest(value: unknown, depth = DIGEST_DEPTH): string {
    const text = JSON.stringify(value) ?? '';
    const hash = createHash('sha1').update(text);
    if (depth > 0) for (const reference of referencesIn(text)) hash.update(this.#referenceDigest(reference, depth - 1));
    return hash.digest('base64');
  }

  #referenceDigest(reference: string, depth: number): string {
    const key = `${depth} ${reference}`;
    let cached = this.#digests.get(key);
    if (cached === undefined) this.#digests.set(key, (cached = this.digest(this.resolve(reference), depth)));
    return cached;
  }

  /** Returns the names of the shared schemas that a value references, directly or through other references. */
  schemaNamesIn(value: unknown): readonly string[] {
    const names = new Set<string>();
    const followedReferences = new Set<string>();
    const followReferences = (part: unknown) => {
      for (const reference of referencesIn(JSON.stringify(part) ?? '')) {
        const name = sharedSchemaName(reference);
        if (name !== undefined) names.add(name);
        else if (!followedReferences.has(reference)) {
          followedReferences.add(reference);
          followReferences(this.resolve(reference));
        }
      }
    };
    followReferences(value);
    return [...names];
  }

  /** Returns the names of the shared schemas that a shared schema references. */
  schemaNamesOf(name: string): readonly string[] {
    let cached = this.#schemaReferences.get(name);
    if (!cached) this.#schemaReferences.set(name, (cached = this.schemaNamesIn(this.schemas[name])));
    return cached;
  }
}

function referencesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(REFERENCE_PATTERN)].map(([, reference]) => JSON.parse(`"${reference}"`) as string));
}
