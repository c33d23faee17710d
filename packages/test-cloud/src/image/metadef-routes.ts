import type { Call } from '../service/call.js';
import { sortItems } from '../service/listing.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { parseLimit } from './image-style.js';
import { METADEF_SCHEMAS, TAG_LIST_SCHEMA } from './metadef-schemas.js';
import { listView, partView, savedPartView } from './metadef-views.js';
import {
  addParts,
  checkUnprotected,
  findChangeableNamespace,
  findNamespace,
  KIND_TERMS,
  type Kind,
  type Namespace,
  partOf,
  ROOT,
  table,
  timestampsOf,
  withoutPart,
  writeParts,
} from './metadefs.js';
import { namespaceRoutes } from './namespace-routes.js';
import { requirePolicy } from './policies.js';
import { checkSchema, validateBody } from './schema-check.js';
import { withoutBody } from './without-body.js';

const TIMES = ['created_at', 'updated_at'];
const READ_ONLY: Readonly<Record<Kind, readonly string[]>> = {
  objects: ['self', 'schema', ...TIMES],
  properties: TIMES,
  tags: TIMES,
  resource_types: TIMES,
};

const CREATED_AT = '2014-08-28T17:13:06Z';
/** The resource types to which property definitions can apply. */
const RESOURCE_TYPES = [
  'OS::Glance::Image',
  'OS::Cinder::Volume',
  'OS::Nova::Flavor',
  'OS::Nova::Aggregate',
  'OS::Nova::Server',
];

const pathOf = (kind: Kind) => `${ROOT}/:namespace/${kind}`;

function bodyOf(call: Call, kind: Kind): Wire {
  const body = validateBody(METADEF_SCHEMAS[kind], call.req.body, READ_ONLY[kind]);
  if (kind === 'objects')
    for (const property of Object.values((body.properties ?? {}) as Readonly<Record<string, Wire>>))
      checkSchema({ ...METADEF_SCHEMAS.properties, required: ['type', 'title'] }, property);
  return body;
}

/** Stores a definition in a namespace. Replaces the previous definition if there is one. */
function storeDefinition(call: Call, namespace: Namespace, kind: Kind, requested: Wire, before?: Wire): Wire {
  const name = String(requested.name);
  const otherParts = before ? withoutPart(namespace.parts[kind], String(before.name)) : namespace.parts[kind];
  const parts = addParts(call, namespace.namespace, kind, otherParts, [[name, requested]]);
  const part = { ...requested, ...timestampsOf(call, before) };
  writeParts(call, namespace, kind, { ...parts, [name]: part });
  return savedPartView(kind, namespace, part);
}

/** Returns the route that adds a definition to a namespace. */
const createRoute = (kind: Kind): Route =>
  post(pathOf(kind), (call) => {
    const requested = bodyOf(call, kind);
    return created(
      storeDefinition(call, findChangeableNamespace(call, KIND_TERMS[kind].policies.add), kind, requested),
    );
  });

function removeRoute(kind: Kind): Route {
  const { policies, title } = KIND_TERMS[kind];
  return del(`${pathOf(kind)}/:name`, (call) => {
    const namespace = findChangeableNamespace(call, policies.remove);
    const name = call.param('name');
    partOf(namespace, kind, name);
    checkUnprotected(namespace, title, name);
    writeParts(call, namespace, kind, withoutPart(namespace.parts[kind], name));
    return noContent();
  });
}

/** Removes the prefix of a resource type's properties from a property name. */
function removePrefix({ parts, namespace }: Namespace, type: string, name: string): string {
  const association = Object.hasOwn(parts.resource_types, type) ? parts.resource_types[type] : undefined;
  if (!association)
    throw notFound(
      `The metadata definition resource-type association of resource-type=${type} to namespace=${namespace}, was not found.`,
    );
  const prefix = String(association.prefix ?? '');
  if (prefix !== '' && name.startsWith(prefix)) return name.slice(prefix.length);
  throw notFound(
    `Property ${name} does not start with the expected resource type association prefix of '${association.prefix ?? 'None'}'.`,
  );
}

/** Returns the routes that show, change and delete the properties, objects or tags of a namespace. */
function partRoutes(kind: Exclude<Kind, 'resource_types'>): readonly Route[] {
  const { policies } = KIND_TERMS[kind];
  const itemPath = `${pathOf(kind)}/:name`;
  const showRoute = get(itemPath, (call) => {
    const namespace = findNamespace(call);
    const type = kind === 'properties' ? call.text('resource_type') : undefined;
    const name = type ? removePrefix(namespace, type, call.param('name')) : call.param('name');
    return partView(kind, namespace, { ...partOf(namespace, kind, name), name });
  });
  return [
    ...(kind === 'properties'
      ? [showRoute, removeRoute(kind)]
      : [withoutBody(showRoute), withoutBody(removeRoute(kind))]),
    put(itemPath, (call) => {
      const requested = bodyOf(call, kind);
      const namespace = findChangeableNamespace(call, policies.modify);
      const before = { ...partOf(namespace, kind, call.param('name')), name: call.param('name') };
      return storeDefinition(call, namespace, kind, requested, before);
    }),
    del(pathOf(kind), (call) => {
      const namespace = findChangeableNamespace(call, 'delete_metadef_namespace');
      checkUnprotected(namespace);
      writeParts(call, namespace, kind, {});
      return noContent();
    }),
  ];
}

function listTags(call: Call) {
  const namespace = findNamespace(call);
  const direction = call.query.get('sort_dir') ?? 'desc';
  if (direction !== 'asc' && direction !== 'desc') throw badRequest(`Invalid sort direction: ${direction}`);
  const limit = call.query.get('limit') ? parseLimit(call) : undefined;
  const marker = call.query.get('marker');
  if (marker) partOf(namespace, 'tags', marker);
  const key = call.query.get('sort_key') ?? 'created_at';
  const tags = sortItems(Object.values(namespace.parts.tags), [{ key, descending: direction === 'desc' }]);
  const startIndex = tags.findIndex(({ name }) => name === marker) + 1;
  return {
    tags: tags.slice(startIndex, limit === undefined ? undefined : startIndex + limit).map(({ name }) => ({ name })),
  };
}

/** Returns the routes that list a namespace's tags, create one tag, and replace or extend the whole list of tags. */
function tagRoutes(): readonly Route[] {
  return [
    get(pathOf('tags'), listTags),
    withoutBody(
      post(`${pathOf('tags')}/:name`, (call) => {
        const namespace = findNamespace(call);
        const requested = { name: call.param('name') };
        checkSchema(METADEF_SCHEMAS.tags, requested);
        requirePolicy(call, KIND_TERMS.tags.policies.add);
        return created(storeDefinition(call, namespace, 'tags', requested));
      }),
    ),
    post(pathOf('tags'), (call) => {
      const { tags = [] } = validateBody(TAG_LIST_SCHEMA, call.req.body, TIMES);
      const requested = tags as readonly { readonly name: string }[];
      for (const tag of requested) checkSchema(METADEF_SCHEMAS.tags, tag);
      const namespace = findChangeableNamespace(call, 'add_metadef_tags');
      const isAppending = /^(1|t|true|on|y|yes)$/i.test(call.req.header('x-openstack-append') ?? '');
      const before = isAppending ? namespace.parts.tags : {};
      const parts = addParts(
        call,
        namespace.namespace,
        'tags',
        before,
        requested.map((tag) => [tag.name, tag]),
      );
      if (requested.length > 0) writeParts(call, namespace, 'tags', parts);
      return created({ tags });
    }),
  ];
}

/** The routes for resource types, and for their associations with namespaces. */
function resourceTypeRoutes(): readonly Route[] {
  const kind = 'resource_types';
  return [
    withoutBody(
      get('/v2/metadefs/resource_types', (call) => {
        const associatedTypes = [...table(call).values()].flatMap(({ parts }) => Object.keys(parts[kind]));
        const names = [...new Set([...RESOURCE_TYPES, ...associatedTypes])];
        return { resource_types: names.map((name) => ({ name, created_at: CREATED_AT, updated_at: CREATED_AT })) };
      }),
    ),
    withoutBody(get(pathOf(kind), (call) => ({ resource_type_associations: listView(kind, findNamespace(call)) }))),
    createRoute(kind),
    withoutBody(removeRoute(kind)),
  ];
}

/** The routes for metadata definitions, which define properties of images, volumes, flavors and servers. */
export function metadefRoutes(): readonly Route[] {
  return [
    ...namespaceRoutes(),
    ...tagRoutes(),
    ...resourceTypeRoutes(),
    get(pathOf('objects'), (call) => ({
      objects: listView('objects', findNamespace(call)),
      schema: 'v2/schemas/metadefs/objects',
    })),
    withoutBody(get(pathOf('properties'), (call) => ({ properties: listView('properties', findNamespace(call)) }))),
    createRoute('objects'),
    createRoute('properties'),
    ...(['objects', 'properties', 'tags'] as const).flatMap(partRoutes),
  ];
}
