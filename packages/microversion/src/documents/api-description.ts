import type { Operation } from '../router/operation.js';
import type { ExampleOf } from './examples.js';
import type { Json } from './outline.js';

/** What the documents of an API say beside its operations. */
export interface ApiDescription {
  readonly title: string;
  /** What the API is for, in plain text. */
  readonly description?: string;
  /** Address the paths are relative to. */
  readonly serverUrl?: string;
  /** Headers that carry the version, in requests and answers: `{ name: 'Service-API-Version', value: (v) => `todo ${v}` }`. */
  readonly versionHeaders?: readonly { readonly name: string; readonly value: (version: string) => string }[];
  /** Other headers of every answer, with what they are: `{ 'X-Request-ID': 'Id of the request' }`. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** How callers prove who they are, by name, as OpenAPI writes it. */
  readonly securitySchemes?: Readonly<Record<string, Json>>;
  /** Operations that anybody may call; default: none. */
  readonly isPublic?: (operation: Operation) => boolean;
  /** The body of an error, as JSON Schema, and its media type; default: any JSON. */
  readonly fault?: { readonly schema: Json; readonly contentType?: string };
  /** When an error of a status comes, in general: `{ 404: 'What is named in the path does not exist' }`. */
  readonly errors?: Readonly<Record<number, string>>;
  /** What each group of operations is about, by tag. */
  readonly tags?: Readonly<Record<string, string>>;
  /** A request and its answer as they really were, or are made up; shown where the schemas of the version accept them. */
  readonly exampleOf?: ExampleOf;
}
