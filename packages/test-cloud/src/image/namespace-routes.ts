import type { Call } from '../service/call.js';
import { sortItems } from '../service/listing.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { pagePath, parseLimit } from './image-style.js';
import { METADEF_SCHEMAS } from './metadef-schemas.js';
import { applyPrefix, namespaceView, namespaceWithContents } from './metadef-views.js';
import {
  addParts,
  checkUnprotected,
  findChangeableNamespace,
  findNamespace,
  isVisible,
  type Kind,
  type Namespace,
  namespaceNotFound,
  ROOT,
  table,
  timestampsOf,
} from './metadefs.js';
import { requirePolicy } from './policies.js';
import { validateBody } from './schema-check.js';
import { withoutBody } from './without-body.js';

const READ_ONLY = ['self', 'schema', 'created_at', 'updated_at'];
const PATH = `${ROOT}/:namespace`;

const bodyOf = (call: Call) => validateBody(METADEF_SCHEMAS.namespaces, call.req.body, READ_ONLY);

/** Returns the fields of a namespace, with defaults for missing fields. */
function fieldsOf(call: Call, { visibility, protected: isProtected, owner, ...others }: Wire) {
  return {
    ...others,
    namespace: String(others.namespace),
    visibility: (visibility ?? 'private') as Namespace['visibility'],
    protected: isProtected === true,
    owner: String(owner ?? call.caller.projectId),
  };
}

/** Returns requested definitions with their names. Throws a 400 error for a definition without a name. */
function namedParts(parts: unknown): readonly (readonly [string, Wire])[] {
  return ((parts ?? []) as readonly Wire[]).map((part) => {
    if (typeof part.name === 'string') return [part.name, part];
    throw badRequest("Provided object does not match schema 'namespace': 'name' is a required property");
  });
}

function create(call: Call) {
  const requested = bodyOf(call);
  requirePolicy(call, 'add_metadef_namespace');
  const { resource_type_associations: associations, objects, properties, tags, ...base } = requested;
  const fields = fieldsOf(call, base);
  const name = fields.namespace;
  if (table(call).has(name)) throw conflict(`The metadata definition namespace=${name} already exists.`);
  const addNewParts = (kind: Kind, parts: readonly (readonly [string, Wire])[]) =>
    addParts(call, name, kind, {}, parts);
  const namespace: Namespace = {
    ...fields,
    ...timestampsOf(call),
    parts: {
      objects: addNewParts('objects', namedParts(objects)),
      properties: addNewParts('properties', Object.entries((properties ?? {}) as Readonly<Record<string, Wire>>)),
      tags: addNewParts('tags', namedParts(tags)),
      resource_types: addNewParts('resource_types', namedParts(associations)),
    },
  };
  table(call).set(name, namespace);
  call.res.setHeader('Location', `${call.base}${ROOT}/${name}`);
  return created({ ...requested, ...namespaceView(namespace) });
}

function change(call: Call) {
  const requested = bodyOf(call);
  const before = findChangeableNamespace(call, 'modify_metadef_namespace');
  const { resource_type_associations: _, objects: __, properties: ___, tags: ____, ...base } = requested;
  const after: Namespace = {
    ...fieldsOf(call, base),
    ...timestampsOf(call, before),
    parts: before.parts,
  };
  if (after.namespace !== before.namespace && table(call).has(after.namespace))
    throw conflict(
      `Invalid update. It would result in a duplicate metadata definition namespace with the same name of ${after.namespace}`,
    );
  if (after.namespace !== before.namespace) table(call).delete(before.namespace);
  table(call).set(after.namespace, after);
  return namespaceView(after);
}

function remove(call: Call) {
  const namespace = findChangeableNamespace(call, 'delete_metadef_namespace');
  checkUnprotected(namespace);
  table(call).delete(namespace.namespace);
  return noContent();
}

function list(call: Call) {
  const { query } = call;
  const direction = query.get('sort_dir') ?? 'desc';
  if (direction !== 'asc' && direction !== 'desc') throw badRequest(`Invalid sort direction: ${direction}`);
  const visibility = query.get('visibility') ?? '';
  if (!['', 'public', 'private'].includes(visibility)) throw badRequest(`Invalid visibility value: ${visibility}`);
  const types = query.get('resource_types')?.split(',');
  const limit = parseLimit(call);
  const descending = direction === 'desc';
  const visibleNamespaces = [...table(call).values()].filter(
    (one) =>
      isVisible(call, one) &&
      (visibility === '' || one.visibility === visibility) &&
      (!types || types.some((type) => Object.hasOwn(one.parts.resource_types, type))),
  );
  const key = query.get('sort_key') ?? 'created_at';
  const sortedNamespaces = sortItems(descending ? visibleNamespaces.reverse() : visibleNamespaces, [
    { key, descending },
  ]);
  const marker = query.get('marker');
  const startIndex = sortedNamespaces.findIndex(({ namespace }) => namespace === marker) + 1;
  if (marker && startIndex === 0) throw namespaceNotFound(marker);
  const page = sortedNamespaces.slice(startIndex, startIndex + limit);
  const lastNamespace = page.at(-1);
  return {
    namespaces: page.map((one) => namespaceWithContents(one, ['resource_types'])),
    first: pagePath(call, ROOT),
    schema: '/v2/schemas/metadefs/namespaces',
    ...(lastNamespace && page.length === limit && { next: pagePath(call, ROOT, lastNamespace.namespace) }),
  };
}

/** The routes for metadata definition namespaces. */
export function namespaceRoutes(): readonly Route[] {
  return [
    get(ROOT, list),
    post(ROOT, create),
    withoutBody(
      get(PATH, (call) => {
        const namespace = findNamespace(call);
        const fullView = namespaceWithContents(namespace, ['resource_types', 'objects', 'properties', 'tags']);
        return applyPrefix(namespace, call.text('resource_type'), fullView);
      }),
    ),
    put(PATH, change),
    withoutBody(del(PATH, remove)),
  ];
}
