import type { Example, Json, OperationShape } from '@apistrata/microversion-router';
import { type DocumentOperation, type OpenApiDocument, objectOrEmpty } from './openapi-document.js';
import { plainText } from './plain-text.js';
import { schemaExample } from './schema-example.js';
import { SchemaParts } from './schema-parts.js';

/** An OpenAPI parameter with resolved references. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Json;
}

/** A request or response body in one media type. */
interface Representation {
  readonly mediaType: string;
  readonly schema: Json;
  readonly content: Json;
}

/** Headers that OpenAPI ignores as parameters, because media types and security schemes describe them. */
const IGNORED_HEADERS = /^(?:accept|content-type|authorization)$/i;
const SUCCESS_STATUS = /^2(?:\d\d|XX)$/i;

/**
 * Returns the parameters of an operation and those of its path. If both define the same parameter, the operation's
 * definition is used. Path parameters have the names that the newest document uses.
 */
function collectParameters(document: OpenApiDocument, found: DocumentOperation, path: string): readonly Parameter[] {
  const namesOf = (template: string) => [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const [ownNames, newestNames] = [namesOf(found.path), namesOf(path)];
  const all = [found.item.parameters, found.operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const byKey = new Map<string, Parameter>();
  for (const each of all) {
    const parameter = document.dereference(each);
    const kind = String(parameter.in);
    if (kind === 'header' && IGNORED_HEADERS.test(String(parameter.name))) continue;
    const name =
      kind === 'path'
        ? (newestNames[ownNames.indexOf(String(parameter.name))] ?? String(parameter.name))
        : String(parameter.name);
    const [content] = Object.values(objectOrEmpty(parameter.content));
    const schema = objectOrEmpty(parameter.schema ?? objectOrEmpty(content).schema);
    const { description = schema.description, deprecated } = parameter;
    byKey.set(`${kind} ${name}`, {
      name,
      in: kind,
      required: parameter.required === true,
      schema: {
        ...schema,
        ...(description !== undefined && { description }),
        ...(deprecated === true && { deprecated }),
      },
    });
  }
  return [...byKey.values()];
}

/** Returns a body's representations, one per media type, JSON first. */
function collectRepresentations(document: OpenApiDocument, body: Json): readonly Representation[] {
  const all = Object.entries(objectOrEmpty(body.content)).map(([mediaType, value]): Representation => {
    const content = document.dereference(value);
    return { mediaType, schema: objectOrEmpty(content.schema), content };
  });
  const rank = ({ mediaType }: Representation) =>
    /^application\/json\b/.test(mediaType) ? 0 : /\bjson\b/.test(mediaType) ? 1 : 2;
  return all.sort((a, b) => rank(a) - rank(b));
}

/** Returns the body example from the document; by default, an example with everything that the schema requires. */
function bodyExample(document: OpenApiDocument, { content, schema }: Representation): unknown {
  if (content.example !== undefined) return content.example;
  const [first] = Object.values(objectOrEmpty(content.examples));
  const example = first === undefined ? undefined : document.dereference(first);
  if (example?.value !== undefined) return example.value;
  return schemaExample(document, { schema, depth: 0 });
}

/** Returns an operation's responses by status: successful statuses first, then in ascending order, `default` last. */
function sortedResponses(
  document: OpenApiDocument,
  { operation }: DocumentOperation,
): readonly (readonly [string, Json])[] {
  const rank = (status: string) =>
    SUCCESS_STATUS.test(status) ? 0 : /^[13]/.test(status) ? 1 : status === 'default' ? 3 : 2;
  return Object.entries(objectOrEmpty(operation.responses))
    .filter(([status]) => !status.startsWith('x-'))
    .map(([status, response]) => [status, document.dereference(response)] as const)
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/**
 * Returns the part name for a status. The names of error statuses have a different prefix, because removing an error
 * status does not affect clients.
 */
const statusPart = (status: string) => `${/^[123]/.test(status) ? 'statuses' : 'errors'}.${status}`;

/**
 * Returns the shape of an operation in an OpenAPI document.
 *
 * @param path the operation's path in the newest document, which defines the parameter names
 * @throws DocumentError if a reference cannot be resolved
 */
export function documentShape(document: OpenApiDocument, found: DocumentOperation, path: string): OperationShape {
  const schemaParts = new SchemaParts(document);
  const parameters = collectParameters(document, found, path);
  for (const { in: kind, name, schema, required } of parameters)
    schemaParts.collect(`${kind}.${name}`, { schema, depth: 0 }, 'request', required);

  const requestBody = document.dereference(found.operation.requestBody);
  const requestBodies = collectRepresentations(document, requestBody);
  for (const { mediaType } of requestBodies) schemaParts.add(`accepts.${mediaType}`, {});
  const [request] = requestBodies;
  if (request)
    schemaParts.collect('body', { schema: request.schema, depth: 0 }, 'request', requestBody.required === true);

  const responses = sortedResponses(document, found);
  const [[main = '200', success = {} as Json] = []] = responses;
  for (const [status, response] of responses) {
    const [representation] = collectRepresentations(document, response);
    const description = plainText(response.description);
    schemaParts.add(statusPart(status), description === undefined ? {} : { description });
    const name = status === main ? 'reply' : statusPart(status);
    if (representation)
      schemaParts.collect(name, { schema: representation.schema, depth: 0 }, 'response', status === main);
  }
  const responseBodies = collectRepresentations(document, success);
  for (const { mediaType } of responseBodies) schemaParts.add(`returns.${mediaType}`, {});
  for (const [name, header] of Object.entries(objectOrEmpty(success.headers))) {
    const { schema, description, required } = document.dereference(header);
    const headerSchema = { ...objectOrEmpty(schema), ...(description !== undefined && { description }) };
    schemaParts.collect(`headers.${name}`, { schema: headerSchema, depth: 0 }, 'response', required === true);
  }

  const example: Example = {
    ...(request && { request: bodyExample(document, request) }),
    ...(responseBodies[0] && { response: bodyExample(document, responseBodies[0]) }),
  };
  const errorStatuses = responses.flatMap(([status]) =>
    status !== main && /^\d+$/.test(status) ? [Number(status)] : [],
  );
  return {
    status: /^\d+$/.test(main) ? Number(main) : 200,
    errors: errorStatuses,
    description: plainText(found.operation.description),
    body: request?.schema,
    ...(request && { mediaType: request.mediaType }),
    ...(found.operation.deprecated === true && { isDeprecated: true }),
    reply: responseBodies[0]?.schema,
    query: parameters.flatMap(({ in: kind, name, schema }) =>
      kind === 'query' ? [{ name, schema, repeated: true }] : [],
    ),
    queryClosed: false,
    parts: schemaParts.parts,
    removalBreaks: true,
    example,
  };
}

/** Returns the shape of a shared schema, as used in requests, in responses, or in both. */
export function schemaShape(document: OpenApiDocument, name: string, sent: boolean, received: boolean): OperationShape {
  const schemaParts = new SchemaParts(document);
  const schema = objectOrEmpty(document.schemas[name]);
  // Depth 1, so that the schema itself is expanded like an operation's schemas.
  if (sent) schemaParts.collect('body', { schema, depth: 1 }, 'request', false);
  if (received) schemaParts.collect('reply', { schema, depth: 1 }, 'response', false);
  return {
    status: 200,
    errors: [],
    description: plainText(schema.description),
    body: undefined,
    reply: undefined,
    query: [],
    queryClosed: false,
    parts: schemaParts.parts,
    removalBreaks: true,
  };
}
