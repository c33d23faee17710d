import type { Operation } from '../router/operation.js';
import type { ExampleOf } from './examples.js';
import type { Json } from './operation-shape.js';

/** The parts of an API's documents that its operations do not define. */
export interface ApiDescription {
  readonly title: string;
  /** The purpose of the API, in plain text. */
  readonly description?: string;
  /** The base URL of the paths. */
  readonly serverUrl?: string;
  /** Headers that contain the version, in requests and responses: `{ name: 'Service-API-Version', value: (v) => `todo ${v}` }`. */
  readonly versionHeaders?: readonly { readonly name: string; readonly value: (version: string) => string }[];
  /** Other headers of every response, with their descriptions: `{ 'X-Request-ID': 'Id of the request' }`. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The OpenAPI security schemes, by name. */
  readonly securitySchemes?: Readonly<Record<string, Json>>;
  /** Returns whether an operation is available without authentication. Default: no operation is. */
  readonly isPublic?: (operation: Operation) => boolean;
  /** The body of an error, as JSON Schema, and its media type; default: any JSON. */
  readonly fault?: { readonly schema: Json; readonly contentType?: string };
  /** The general cause of each error status: `{ 404: 'The resource in the path does not exist' }`. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Descriptions of the operation groups, by tag. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Returns recorded or illustrative examples. Those that the schemas of the version reject are omitted. */
  readonly exampleOf?: ExampleOf;
}
