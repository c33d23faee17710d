import type { Operation } from '../router/operation.js';
import type { ExampleOf } from './examples.js';
import type { Json } from './operation-shape.js';

/** The parts of an API description that are not derived from its operations. */
export interface ApiDescription {
  readonly title: string;
  /** The purpose of the API, in plain text. */
  readonly description?: string;
  /** The base URL of all paths. */
  readonly serverUrl?: string;
  /** Headers that contain the version, such as `{ name: 'Service-API-Version', value: (v) => `todo ${v}` }`. */
  readonly versionHeaders?: readonly { readonly name: string; readonly value: (version: string) => string }[];
  /** Descriptions of other headers that every response has: `{ 'X-Request-ID': 'Id of the request' }`. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The OpenAPI security schemes, by name. */
  readonly securitySchemes?: Readonly<Record<string, Json>>;
  /** Returns whether an operation is available without authentication. Default: no operation is. */
  readonly isPublic?: (operation: Operation) => boolean;
  /** The JSON Schema and the media type of error bodies. Default: any JSON. */
  readonly fault?: { readonly schema: Json; readonly contentType?: string };
  /** Descriptions of error statuses, for all operations: `{ 404: 'The resource in the path does not exist' }`. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Descriptions of the operation groups, by tag. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Returns examples of an operation. The document omits examples that do not match the schemas of its version. */
  readonly exampleOf?: ExampleOf;
}
