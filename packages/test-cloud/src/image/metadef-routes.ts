import { z } from 'zod';
import type { Call } from '../service/call.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, conflict, forbidden, notFound } from '../service/service-error.js';
import { seconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';

type Parts = Readonly<Record<string, Wire>>;

/** A namespace of metadata definitions, with its contents by name. */
interface Namespace {
  readonly namespace: string;
  readonly visibility: 'public' | 'private';
  readonly protected: boolean;
  readonly owner: string;
  readonly created_at: string;
  readonly parts: Readonly<Record<Kind, Parts>>;
  readonly [field: string]: unknown;
}

const name = z.string().min(1).max(80);
const Tag = z.object({ name });
const Property = z.looseObject({ name: z.string().min(1).max(255), title: z.string(), type: z.string() });
const Association = z.object({
  name,
  prefix: z.string().max(80).optional(),
  properties_target: z.string().max(80).optional(),
});
const Target = z.object({
  name: z.string().min(1).max(255),
  description: z.string().nullish(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
});
const NamespaceBody = z.object({
  namespace: name,
  display_name: z.string().max(80).nullish(),
  description: z.string().max(500).nullish(),
  visibility: z.enum(['public', 'private']).optional(),
  protected: z.boolean().optional(),
  owner: z.string().max(255).optional(),
});

/** The kinds of contents, each with its schema and its name in messages. */
const KINDS = {
  objects: { schema: Target, title: 'object' },
  properties: { schema: Property, title: 'property' },
  tags: { schema: Tag, title: 'tag' },
  resource_types: { schema: Association, title: 'resource type' },
} as const;
type Kind = keyof typeof KINDS;

const CREATED_AT = '2014-08-28T17:13:06Z';
/** Resource types that property definitions can apply to. */
const RESOURCE_TYPES = [
  'OS::Glance::Image',
  'OS::Cinder::Volume',
  'OS::Nova::Flavor',
  'OS::Nova::Aggregate',
  'OS::Nova::Server',
];

const root = '/v2/metadefs/namespaces';
const namespacePath = `${root}/:namespace`;
const table = ({ cloud }: Call) => cloud.documents.table<Namespace>('image/metadefs');
const now = (call: Call) => seconds(call.cloud.clock.now());
const isVisible = (call: Call, { visibility, owner }: Namespace) =>
  call.isAdmin || visibility === 'public' || owner === call.caller.projectId;

function find(call: Call): Namespace {
  const found = table(call).get(call.param('namespace'));
  if (!found || !isVisible(call, found))
    throw notFound(`The metadata definition namespace=${call.param('namespace')} was not found.`);
  return found;
}

/** Returns the namespace in the path if the caller may change it. */
function findChangeable(call: Call): Namespace {
  call.requireAdmin();
  return find(call);
}

function view({ parts, ...namespace }: Namespace, isComplete: boolean): Wire {
  const { objects, properties, tags, resource_types: associations } = parts;
  const self = `${root}/${namespace.namespace}`;
  const isShown = (one: Parts) => isComplete && Object.keys(one).length > 0;
  return {
    ...namespace,
    ...(Object.keys(associations).length > 0 && { resource_type_associations: Object.values(associations) }),
    ...(isShown(objects) && { objects: Object.values(objects).map((one) => partView('objects', self, one)) }),
    ...(isShown(properties) && { properties: propertiesOf(properties) }),
    ...(isShown(tags) && { tags: Object.values(tags) }),
    self,
    schema: '/v2/schemas/metadefs/namespace',
  };
}

/** Returns the wire format of a part. Objects have a link; properties have no timestamps. */
function partView(kind: Kind, self: string, part: Wire): Wire {
  if (kind === 'objects')
    return { ...part, self: `${self}/objects/${part.name}`, schema: '/v2/schemas/metadefs/object' };
  if (kind !== 'properties') return part;
  const { created_at: _, updated_at: __, ...property } = part;
  return property;
}

const propertiesOf = (properties: Parts): Wire =>
  Object.fromEntries(
    Object.entries(properties).map(([key, property]) => {
      const { name: _, ...shown } = partView('properties', '', property);
      return [key, shown];
    }),
  );

function write(call: Call, namespace: Namespace, kind: Kind, parts: Parts): void {
  const changed = { ...namespace, parts: { ...namespace.parts, [kind]: parts } };
  table(call).set(namespace.namespace, changed);
}

function createNamespace(call: Call) {
  call.requireAdmin();
  const requested = call.body(NamespaceBody);
  if (table(call).has(requested.namespace))
    throw conflict(`The metadata definition namespace=${requested.namespace} already exists.`);
  const moment = now(call);
  const newNamespace: Namespace = {
    visibility: 'private',
    protected: false,
    owner: call.caller.projectId,
    ...requested,
    created_at: moment,
    updated_at: moment,
    parts: { objects: {}, properties: {}, tags: {}, resource_types: {} },
  };
  table(call).set(newNamespace.namespace, newNamespace);
  return created(view(newNamespace, true));
}

function changeNamespace(call: Call) {
  const before = findChangeable(call);
  const requested = call.body(NamespaceBody);
  if (requested.namespace !== before.namespace && table(call).has(requested.namespace))
    throw conflict(`The metadata definition namespace=${requested.namespace} already exists.`);
  table(call).delete(before.namespace);
  const after = { ...before, ...requested, updated_at: now(call) } as Namespace;
  table(call).set(after.namespace, after);
  return view(after, false);
}

function removeNamespace(call: Call) {
  const namespace = findChangeable(call);
  if (namespace.protected)
    throw forbidden(`Metadata definition namespace ${namespace.namespace} is protected and cannot be deleted.`);
  table(call).delete(namespace.namespace);
  return noContent();
}

/** Routes of the contents of a namespace that are created, shown, changed and deleted in the same way. */
function partRoutes(kind: Kind): readonly Route[] {
  const { schema, title } = KINDS[kind];
  const all = `${namespacePath}/${kind}`;
  const one = `${all}/:name`;
  const selfOf = ({ namespace }: Namespace) => `${root}/${namespace}`;

  function existing(call: Call, namespace: Namespace): Wire {
    const part = namespace.parts[kind][call.param('name')];
    if (part) return part;
    throw notFound(
      `The metadata definition ${title} with name=${call.param('name')} was not found in namespace=${namespace.namespace}.`,
    );
  }

  /** Stores a part, and replaces the one with its previous name. */
  function store(call: Call, requested: Wire, before?: Wire): Wire {
    const namespace = findChangeable(call);
    const { [String(before?.name ?? '')]: _, ...others } = namespace.parts[kind];
    const key = String(requested.name);
    if (Object.hasOwn(others, key))
      throw conflict(
        `A metadata definition ${title} with name=${key} already exists in namespace=${namespace.namespace}.`,
      );
    const moment = now(call);
    const part = { ...requested, created_at: before?.created_at ?? moment, updated_at: moment };
    write(call, namespace, kind, { ...others, [key]: part });
    return partView(kind, selfOf(namespace), part);
  }

  return [
    post(all, (call) => created(store(call, call.body<z.ZodType<Wire>>(schema)))),
    get(one, (call) => {
      const namespace = find(call);
      return partView(kind, selfOf(namespace), existing(call, namespace));
    }),
    put(one, (call) => store(call, call.body<z.ZodType<Wire>>(schema), existing(call, findChangeable(call)))),
    del(one, (call) => {
      const namespace = findChangeable(call);
      existing(call, namespace);
      const { [call.param('name')]: _, ...others } = namespace.parts[kind];
      write(call, namespace, kind, others);
      return noContent();
    }),
    del(all, (call) => {
      write(call, findChangeable(call), kind, {});
      return noContent();
    }),
  ];
}

/** Routes that create one tag, whose name is in the path, or a list of tags that replaces all others. */
function tagRoutes(): readonly Route[] {
  const all = `${namespacePath}/tags`;
  const stamped = (call: Call, requested: readonly { readonly name: string }[]): Parts =>
    Object.fromEntries(requested.map((tag) => [tag.name, { ...tag, created_at: now(call), updated_at: now(call) }]));
  return [
    post(`${all}/:name`, (call) => {
      const namespace = findChangeable(call);
      const { tags } = namespace.parts;
      if (Object.hasOwn(tags, call.param('name')))
        throw conflict(`A metadata tag with name=${call.param('name')} already exists in this namespace.`);
      const added = stamped(call, [{ name: call.param('name') }]);
      write(call, namespace, 'tags', { ...tags, ...added });
      return created(added[call.param('name')]);
    }),
    post(all, (call) => {
      const namespace = findChangeable(call);
      const { tags } = call.body(z.object({ tags: z.array(Tag) }));
      if (new Set(tags.map((tag) => tag.name)).size < tags.length) throw badRequest('Duplicate tags are not allowed.');
      write(call, namespace, 'tags', stamped(call, tags));
      return created({ tags });
    }),
  ];
}

/** Property definitions for images, volumes, flavors and servers, by namespace. */
export function metadefRoutes(): readonly Route[] {
  const list = (kind: Kind, show: (namespace: Namespace) => Wire) =>
    get(`${namespacePath}/${kind}`, (call) => ({ ...show(find(call)), schema: `/v2/schemas/metadefs/${kind}` }));
  return [
    get(root, (call) => ({
      namespaces: [...table(call).values()].filter((one) => isVisible(call, one)).map((one) => view(one, false)),
      first: root,
      schema: '/v2/schemas/metadefs/namespaces',
    })),
    post(root, createNamespace),
    get(namespacePath, (call) => view(find(call), true)),
    put(namespacePath, changeNamespace),
    del(namespacePath, removeNamespace),
    ...tagRoutes(),
    list('objects', (namespace) => ({
      objects: Object.values(namespace.parts.objects).map((one) =>
        partView('objects', `${root}/${namespace.namespace}`, one),
      ),
      first: `${root}/${namespace.namespace}/objects`,
    })),
    list('properties', ({ parts }) => ({ properties: propertiesOf(parts.properties) })),
    list('tags', ({ parts, namespace }) => ({
      tags: Object.values(parts.tags),
      first: `${root}/${namespace}/tags`,
    })),
    get(`${namespacePath}/resource_types`, (call) => ({
      resource_type_associations: Object.values(find(call).parts.resource_types),
    })),
    ...(Object.keys(KINDS) as Kind[]).flatMap(partRoutes),
    get('/v2/metadefs/resource_types', () => ({
      resource_types: RESOURCE_TYPES.map((one) => ({ name: one, created_at: CREATED_AT, updated_at: CREATED_AT })),
      schema: '/v2/schemas/metadefs/resource_types',
    })),
  ];
}
