import { rejectUnknownOptions, Version, type VersionLike } from '@apistrata/microversion';
import { groupBy } from '../router/group-by.js';
import type { Operation } from '../router/operation.js';
import type { ApiDescription } from './api-description.js';
import type { DocumentedOperation, OperationGroup } from './documented-operation.js';
import { type Example, exampleAt } from './examples.js';
import { actionOperationName, nameOf, operationKey, tagOf } from './names.js';
import { type Json, operationShape } from './operation-shape.js';
import { annotate, windowNotes, withNote } from './window-notes.js';

/** Options for {@link openApi}: the version to describe, and the content that does not come from operations. */
export interface OpenApiOptions extends ApiDescription {
  readonly version: VersionLike;
  /**
   * How to describe actions, which share a path and are selected by the key of the body: `one-of` describes them as one
   * operation with a `oneOf` body; `separate` describes each with its own path, which has a fragment
   * (`/servers/{id}/action#resize`), for generators that do not support `oneOf`. Default: `one-of`.
   */
  readonly actions?: 'one-of' | 'separate';
}

const OPENAPI_OPTIONS: Readonly<Record<keyof OpenApiOptions, true>> = {
  title: true,
  description: true,
  serverUrl: true,
  versionHeaders: true,
  responseHeaders: true,
  securitySchemes: true,
  isPublic: true,
  fault: true,
  errors: true,
  tags: true,
  exampleOf: true,
  version: true,
  actions: true,
};

type MutableJson = Record<string, unknown>;

const JSON_TYPE = 'application/json';

function parametersOf({ operation, shape, notes }: DocumentedOperation, shared: readonly Json[]): Json[] {
  const path = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(operation.parameters?.[name] && { description: operation.parameters[name] }),
    schema: { type: 'string' },
  }));
  const query = shape.query.map(({ name, schema: original, repeated }) => {
    const { description, ...schema } = annotate(original, `query.${name}`, notes);
    return {
      name,
      in: 'query',
      required: false,
      ...(description !== undefined && { description }),
      schema: repeated ? { type: 'array', items: schema } : schema,
    };
  });
  return [...path, ...query, ...shared];
}

/** Returns a sentence that lists the policy rules of an operation. */
function policyNote({ policy }: Operation): string | undefined {
  const rules: readonly string[] = [policy ?? []].flat();
  return rules.length > 0 ? `Policy: ${rules.map((rule) => `\`${rule}\``).join(', ')}.` : undefined;
}

/** Returns the link to the next page of a paginated list: an operation with links in its response and a `marker` parameter. */
function nextPageLink(group: OperationGroup): Json | undefined {
  const [{ operation, shape }] = group as [DocumentedOperation];
  const fields = Object.keys((shape.reply?.properties ?? {}) as Json);
  const links = fields.find((name) => name === 'links' || name.endsWith('_links'));
  if (!links || !shape.query.some(({ name }) => name === 'marker')) return undefined;
  return {
    next: {
      operationId: nameOf(operation),
      description: `The next page, if \`${links}\` has an entry \`next\`: request its \`href\`, or repeat the query with \`marker\` set to the ID of the last item.`,
    },
  };
}

function bodyContent(
  group: OperationGroup,
  examplesOf: (entry: DocumentedOperation) => Example | undefined,
): Json | undefined {
  const bodies = group.filter(({ shape }) => shape.body !== undefined);
  if (bodies.length === 0) return undefined;
  const schemas = bodies.map(({ operation, shape, notes }) => {
    const schema = annotate(shape.body as Json, 'body', notes);
    return operation.action === undefined ? schema : { title: nameOf(operation), ...schema };
  });
  const examples = bodies.flatMap((entry): [string, Json][] => {
    const value = examplesOf(entry)?.request;
    return value === undefined ? [] : [[nameOf(entry.operation), { summary: entry.operation.summary, value }]];
  });
  return {
    [JSON_TYPE]: {
      schema: schemas.length > 1 ? { oneOf: schemas } : schemas[0],
      ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
    },
  };
}

function successResponses(
  group: OperationGroup,
  headers: Json,
  examplesOf: (entry: DocumentedOperation) => Example | undefined,
): MutableJson {
  const responses: MutableJson = {};
  for (const [status, operations] of groupBy(group, ({ shape }) => shape.status)) {
    const bodies = operations.filter(({ shape }) => shape.reply !== undefined);
    const schemas = bodies.map(({ shape, notes }) => annotate(shape.reply as Json, 'reply', notes));
    const examples = bodies.flatMap((entry): [string, Json][] => {
      const value = examplesOf(entry)?.response;
      return value === undefined ? [] : [[nameOf(entry.operation), { summary: entry.operation.summary, value }]];
    });
    const links = nextPageLink(operations);
    const content = schemas.length > 0 && {
      content: {
        [JSON_TYPE]: {
          schema: schemas.length > 1 ? { anyOf: schemas } : schemas[0],
          ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
        },
      },
    };
    const description =
      operations.length > 3 ? 'Completed or accepted' : operations.map(({ operation }) => operation.summary).join('; ');
    responses[String(status)] = { description, headers, ...content, ...(links && { links }) };
  }
  return responses;
}

function errorResponses(
  group: OperationGroup,
  api: ApiDescription,
  headers: Json,
  successes: MutableJson,
): MutableJson {
  const responses: MutableJson = {};
  const schema = api.fault ? { $ref: '#/components/schemas/Fault' } : {};
  for (const { operation, shape } of group) {
    for (const status of shape.errors) {
      if (String(status) in successes) continue;
      const generalCause = api.errors?.[status] ?? 'Error';
      const specificCause = operation.when?.[status];
      const note = specificCause && (group.length > 1 ? `${nameOf(operation)}: ${specificCause}` : specificCause);
      const existingResponse = responses[status] as { description: string } | undefined;
      const description = [existingResponse?.description ?? generalCause, note].filter(Boolean).join('\n');
      responses[status] = { description, headers, content: { [api.fault?.contentType ?? JSON_TYPE]: { schema } } };
    }
  }
  return responses;
}

/** Returns the OpenAPI components that all operations share, and the references to these components. */
function components(api: ApiDescription, version: string) {
  const headers = api.versionHeaders ?? [];
  const parameters = headers.map(({ name, value }) => [
    name,
    {
      name,
      in: 'header',
      required: false,
      description: `Requested version. Default: the lowest version. This document describes version ${version}.`,
      schema: { type: 'string', default: value(version) },
    },
  ]);
  const responseHeaders = [
    ...headers.map(({ name, value }) => [
      name,
      { description: 'Version of the response.', schema: { type: 'string', const: value(version) } },
    ]),
    ...Object.entries(api.responseHeaders ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  ];
  const referencesTo = (kind: string, entries: readonly (readonly unknown[])[]) =>
    entries.map(([name]) => [name, { $ref: `#/components/${kind}/${name}` }] as const);
  return {
    parameters: referencesTo('parameters', parameters).map(([, ref]) => ref),
    headers: Object.fromEntries(referencesTo('headers', responseHeaders)) as Json,
    definitions: {
      ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters) }),
      ...(responseHeaders.length > 0 && { headers: Object.fromEntries(responseHeaders) }),
      ...(api.fault && { schemas: { Fault: api.fault.schema } }),
      ...(api.securitySchemes && { securitySchemes: api.securitySchemes }),
    },
  };
}

/** Returns the OpenAPI 3.1 document for one version. Descriptions note in which versions operations and fields exist. */
export function openApi(operations: readonly Operation[], options: OpenApiOptions): Json {
  rejectUnknownOptions('openApi', options, Object.keys(OPENAPI_OPTIONS));
  const version = Version.of(options.version);
  const shared = components(options, version.text);
  const histories = groupBy(operations, operationKey);
  const definedEntries = operations.flatMap((operation): DocumentedOperation[] => {
    const shape = operationShape(operation, version);
    if (!shape) return [];
    const notes = windowNotes(histories.get(operationKey(operation)) ?? [operation], version);
    return [{ operation, shape, notes }];
  });
  const usesSeparatePaths = options.actions === 'separate';
  const documentPath = ({ operation: { path, action } }: DocumentedOperation) =>
    usesSeparatePaths && action !== undefined ? `${path}#${action}` : path;
  // Computed once, because both the request and the response use the example.
  const examples = new Map(
    definedEntries.map(({ operation }) => [operation, exampleAt(options.exampleOf, operation, version)] as const),
  );
  const examplesOf = ({ operation }: DocumentedOperation) => examples.get(operation);
  const paths: Record<string, MutableJson> = {};
  const ids = new Map<string, string>();
  for (const group of groupBy(definedEntries, (entry) => `${entry.operation.method} ${documentPath(entry)}`).values()) {
    const [first] = group;
    const { operation, shape } = first;
    const isActionGroup = group.length > 1 && operation.action !== undefined;
    const id = isActionGroup ? actionOperationName(operation) : nameOf(operation);
    const otherOperation = ids.get(id);
    if (otherOperation)
      throw new TypeError(
        `${otherOperation} and ${operationKey(operation)} are both called ${id}: set a different \`name\` for one of them`,
      );
    ids.set(id, operationKey(operation));
    const content = bodyContent(group, examplesOf);
    const successes = successResponses(group, shared.headers, examplesOf);
    const isPublic = options.isPublic?.(operation) ?? false;
    const description = isActionGroup
      ? group
          .map(({ operation: { action, summary }, notes }) => `- \`${action}\`: ${withNote(summary, notes.operation)}`)
          .join('\n')
      : [withNote(shape.description, first.notes.operation), policyNote(operation)].filter(Boolean).join('\n\n');
    const methods = (paths[documentPath(first)] ??= {});
    methods[operation.method.toLowerCase()] = {
      operationId: id,
      tags: [tagOf(operation)],
      summary: isActionGroup ? 'Run an action, selected by the only key of the request body' : operation.summary,
      ...(description && { description }),
      parameters: parametersOf(first, shared.parameters),
      ...(content && { requestBody: { required: true, content } }),
      responses: { ...successes, ...errorResponses(group, options, shared.headers, successes) },
      ...(operation.action !== undefined && {
        'x-action': isActionGroup ? group.map((entry) => entry.operation.action) : operation.action,
      }),
      ...(options.securitySchemes && isPublic && { security: [] }),
    };
  }
  const tags = [...new Set(definedEntries.map(({ operation }) => tagOf(operation)))];
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: version.text,
      ...(options.description && { description: options.description }),
    },
    ...(options.serverUrl && { servers: [{ url: options.serverUrl }] }),
    ...(options.securitySchemes && { security: Object.keys(options.securitySchemes).map((name) => ({ [name]: [] })) }),
    tags: tags.map((name) => ({ name, ...(options.tags?.[name] && { description: options.tags[name] }) })),
    paths,
    components: shared.definitions,
  };
}

/** The OpenAPI documents of an API. Each version's document is generated on first use and cached. */
export interface OpenApiDocuments {
  /** Returns the OpenAPI document of a version. @param serverUrl the base URL of the paths; default: the option `serverUrl` */
  at(version: VersionLike, serverUrl?: string): Json;
  /** Returns the document that `at` returns, as a JSON string. */
  text(version: VersionLike, serverUrl?: string): string;
}

/** Creates a cache of OpenAPI documents. Reject unsupported versions first, because each requested version adds an entry. */
export function openApiDocuments(
  operations: readonly Operation[],
  { serverUrl: defaultUrl, ...options }: Omit<OpenApiOptions, 'version'>,
): OpenApiDocuments {
  const cache = new Map<string, { readonly document: Json; readonly text: string }>();
  const documentOf = (version: VersionLike) => {
    const { text } = Version.of(version);
    let cached = cache.get(text);
    if (!cached) {
      const document = openApi(operations, { ...options, version: text });
      cache.set(text, (cached = { document, text: JSON.stringify(document) }));
    }
    return cached;
  };
  const serverList = (url: string) => [{ url }];
  return {
    at: (version, serverUrl = defaultUrl) => {
      const { document } = documentOf(version);
      return serverUrl ? { ...document, servers: serverList(serverUrl) } : document;
    },
    text: (version, serverUrl = defaultUrl) => {
      const { text } = documentOf(version);
      return serverUrl ? `${text.slice(0, -1)},"servers":${JSON.stringify(serverList(serverUrl))}}` : text;
    },
  };
}
