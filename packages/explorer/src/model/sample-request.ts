import {
  type Example,
  exampleAt,
  type Json,
  type Operation,
  type OperationShape,
} from '@apistrata/microversion-router';
import type { Site } from '../pages/site.js';
import type { SampleRequest } from './code-samples.js';
import { exampleValue } from './example-value.js';

/** The placeholder origin in samples if the API has the same origin as the pages. In browsers, a script replaces it. */
const PLACEHOLDER_ORIGIN = 'https://api.example.com';
/** The placeholder token in samples if the options contain no tokens. */
const PLACEHOLDER_TOKEN = '$TOKEN';
const EXAMPLE_ID = '9d4ba7c1-0c7e-4f4e-9b5e-2f6c1f3e7a10';

/** The request header that carries the caller's token. */
export interface TokenHeader {
  readonly name: string;
  readonly description: string | undefined;
  /** The authentication scheme that precedes the token in the header, such as `Bearer `. */
  readonly prefix?: string;
}

/** Returns the header for the caller's token; undefined if the API defines none. */
export function tokenHeader({ api }: Site): TokenHeader | undefined {
  const schemes = Object.values(api.options.description?.securitySchemes ?? {}) as Json[];
  const scheme = schemes.find((each) => each.type === 'apiKey' && each.in === 'header');
  if (scheme) return { name: String(scheme.name), description: scheme.description as string | undefined };
  const authorizationScheme = schemes.find((each) => each.type === 'http' || each.type === 'oauth2');
  if (!authorizationScheme) return undefined;
  const prefix = String(authorizationScheme.scheme ?? 'bearer').toLowerCase() === 'basic' ? 'Basic ' : 'Bearer ';
  return { name: 'Authorization', description: authorizationScheme.description as string | undefined, prefix };
}

/** Returns the parameter names in a path. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
}

/** Returns the ID of the resource in a response: the `id` field of the response itself, or of its first field. */
function resourceIdIn(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const [own, inner] = [response as Json, Object.values(response)[0] as Json | undefined];
  const id = own.id ?? (typeof inner === 'object' && inner !== null ? inner.id : undefined);
  return id === undefined ? undefined : String(id);
}

/** Returns an example value for a path parameter. */
function exampleParameterValue(name: string, example: Example | undefined): string {
  if (!/id$/i.test(name)) return name;
  return (name === 'id' ? resourceIdIn(example?.response) : undefined) ?? EXAMPLE_ID;
}

/** Returns the request headers that authenticate the caller and select the page's version. */
function sampleHeaders(site: Site): Readonly<Record<string, string>> {
  const { description, tokens } = site.api.options;
  const token = tokenHeader(site);
  const version = description?.versionHeaders?.[0];
  return {
    ...(token && { [token.name]: tokens?.[0]?.token ?? `${token.prefix ?? ''}${PLACEHOLDER_TOKEN}` }),
    ...(version && { [version.name]: version.value(site.version.text) }),
  };
}

/** An operation's sample request, and the response to that request. */
export interface OperationSample {
  readonly request: SampleRequest;
  readonly response: unknown;
}

/**
 * Returns an operation's sample request at the page's version. Its body is the operation's example, or else the
 * smallest valid value.
 */
export function createSample(site: Site, name: string, operation: Operation, shape: OperationShape): OperationSample {
  const { api, version } = site;
  const example = shape.example ?? exampleAt(api.options.description?.exampleOf, operation, version);
  const body = shape.body === undefined ? undefined : (example?.request ?? exampleValue(shape.body));
  const request: SampleRequest = {
    name,
    method: operation.method,
    server: /^https?:/.test(api.server) ? api.server : PLACEHOLDER_ORIGIN + api.server,
    path: operation.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => exampleParameterValue(parameter, example)),
    headers: sampleHeaders(site),
    body,
    mediaType: shape.mediaType ?? 'application/json',
    version: version.text,
    status: shape.status,
  };
  return { request, response: example?.response };
}
