import { z } from 'zod';
import type { Version, VersionLike } from '../version.js';
import { Version as V } from '../version.js';
import { at } from '../windowed.js';
import { groupBy } from './group-by.js';
import { existsAt, type Operation, windowsOfOperation } from './operation.js';
import { prepare } from './router.js';

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  readonly title: string;
  readonly version: VersionLike;
  /** Address the paths are relative to. */
  readonly serverUrl?: string;
  /** Name of the header that carries the version. */
  readonly versionHeader?: string;
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json;
  return rest;
}

function parametersOf(operation: Operation, version: Version): Json[] {
  const path = [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const fields = [...(operation.query?.fieldsAt(version).fields ?? [])];
  const query = fields.map(([name, { schema, repeat }]) => {
    const one = jsonSchema(schema, 'input');
    return { name, in: 'query', required: false, schema: repeat === 'refuse' ? one : { type: 'array', items: one } };
  });
  return [...path, ...query];
}

function bodySchema(operation: Operation, version: Version): Json | undefined {
  const body = prepare(operation).body;
  return body && jsonSchema(body.at(version), 'input');
}

function replySchema(operation: Operation, version: Version): Json | undefined {
  const reply = prepare(operation).reply;
  return reply && jsonSchema(reply.schema(version), 'output');
}

function operationId(operation: Operation): string {
  return `${operation.method} ${operation.path}${operation.action ? ` ${operation.action}` : ''}`;
}

/** The response objects of operations that share a path: several actions may answer the same status in several ways. */
function responsesOf(operations: readonly Operation[], version: Version): Json {
  const byStatus = groupBy(operations, (operation) => at(operation.status, version) ?? 200);
  const success = [...byStatus].map(([status, group]) => {
    const schemas = group.map((operation) => replySchema(operation, version)).filter((schema) => schema !== undefined);
    const content = schemas.length > 0 && {
      content: { 'application/json': { schema: schemas.length > 1 ? { anyOf: schemas } : schemas[0] } },
    };
    return [String(status), { description: group.map(({ summary }) => summary).join('; '), ...content }];
  });
  const errors = [...new Set(operations.flatMap((operation) => at(operation.errors ?? [], version) ?? []))];
  const taken = new Set(success.map(([status]) => status));
  const faults = errors
    .map((status) => [String(status), { description: 'Fault' }])
    .filter(([status]) => !taken.has(status as string));
  return Object.fromEntries([...success, ...faults]);
}

/** The OpenAPI 3.1 document of the operations as they are at one version. Actions on one path become one operation. */
export function openApi(operations: readonly Operation[], options: OpenApiOptions): Json {
  const version = V.of(options.version);
  const present = operations.filter((operation) => existsAt(operation, version));
  const paths: Record<string, Json> = {};
  for (const group of groupBy(present, ({ method, path }) => `${method} ${path}`).values()) {
    const { method, path, action, summary } = group[0]!;
    const bodies = group.map((operation) => bodySchema(operation, version)).filter((schema) => schema !== undefined);
    const schema = bodies.length > 1 ? { anyOf: bodies } : bodies[0];
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      operationId: action ? `${method} ${path}` : operationId(group[0]!),
      summary: action ? `Actions: ${group.map((operation) => operation.action).join(', ')}` : summary,
      parameters: parametersOf(group[0]!, version),
      ...(schema && { requestBody: { required: true, content: { 'application/json': { schema } } } }),
      responses: responsesOf(group, version),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: options.title, version: version.text },
    ...(options.serverUrl && { servers: [{ url: options.serverUrl }] }),
    paths,
  };
}

/** What differs for one operation between two versions. */
export interface OperationChange {
  readonly operation: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Dotted names, `body.server.description`, `reply.server.tags`, `query.limit`, `status`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly altered: readonly string[];
}

/** All leaves of a JSON schema by dotted name, each with the text of its own rules. */
function leaves(schema: Json | undefined, name: string, found: Map<string, string> = new Map()): Map<string, string> {
  if (!schema) return found;
  const { properties, items, required, additionalProperties, ...own } = schema as {
    properties?: Record<string, Json>;
    items?: Json;
  } & Json;
  found.set(name, JSON.stringify({ ...own, extra: additionalProperties }));
  for (const [key, inner] of Object.entries(properties ?? {})) leaves(inner, `${name}.${key}`, found);
  if (items) leaves(items, `${name}[]`, found);
  return found;
}

function facts(operation: Operation, version: Version): Map<string, string> {
  const found = new Map<string, string>([['status', String(at(operation.status, version))]]);
  leaves(bodySchema(operation, version), 'body', found);
  leaves(replySchema(operation, version), 'reply', found);
  for (const [name, { schema, repeat }] of operation.query?.fieldsAt(version).fields ?? []) {
    found.set(`query.${name}`, JSON.stringify([jsonSchema(schema, 'input'), repeat]));
  }
  return found;
}

/** What changed between two versions, operation by operation, as data. */
export function changesBetween(
  operations: readonly Operation[],
  from: VersionLike,
  to: VersionLike,
): readonly OperationChange[] {
  const [before, after] = [V.of(from), V.of(to)];
  const of = (version: Version) => {
    const present = operations.filter((operation) => existsAt(operation, version));
    return new Map(present.map((operation) => [operationId(operation), facts(operation, version)]));
  };
  const [old, now] = [of(before), of(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((operation): OperationChange[] => {
    const [was, is] = [old.get(operation), now.get(operation)];
    if (!was || !is) return [{ operation, change: is ? 'added' : 'removed', added: [], removed: [], altered: [] }];
    const added = [...is.keys()].filter((name) => !was.has(name));
    const removed = [...was.keys()].filter((name) => !is.has(name));
    const altered = [...is.keys()].filter((name) => was.has(name) && was.get(name) !== is.get(name));
    return added.length + removed.length + altered.length > 0
      ? [{ operation, change: 'changed', added, removed, altered }]
      : [];
  });
}

/** One line of the coverage listing. */
export interface OperationEntry {
  readonly method: string;
  readonly path: string;
  readonly action: string | undefined;
  readonly windows: readonly { readonly since: string | undefined; readonly until: string | undefined }[];
  readonly summary: string;
  readonly policy: readonly string[];
}

/** Every operation with its windows. */
export function coverage(operations: readonly Operation[]): readonly OperationEntry[] {
  return operations.map((operation) => ({
    method: operation.method,
    path: operation.path,
    action: operation.action,
    windows: windowsOfOperation(operation).map(({ since, until }) => ({ since: since?.text, until: until?.text })),
    summary: operation.summary,
    policy: [operation.policy ?? []].flat(),
  }));
}
