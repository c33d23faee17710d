import type { Call } from '../service/call.js';
import { sorted } from '../service/listing.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { limitOf, pageLink } from './image-style.js';
import { METADEF_SCHEMAS } from './metadef-schemas.js';
import { appliedTo, namespaceView, namespaceWith } from './metadef-views.js';
import {
  added,
  checkUnprotected,
  find,
  findChangeable,
  isVisible,
  type Kind,
  type Namespace,
  namespaceNotFound,
  ROOT,
  table,
  timesOf,
} from './metadefs.js';
import { requirePolicy } from './policies.js';
import { checkedBody } from './schema-check.js';
import { withoutBody } from './without-body.js';

const READ_ONLY = ['self', 'schema', 'created_at', 'updated_at'];
const PATH = `${ROOT}/:namespace`;

const bodyOf = (call: Call) => checkedBody(METADEF_SCHEMAS.namespaces, call.req.body, READ_ONLY);

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
function named(parts: unknown): readonly (readonly [string, Wire])[] {
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
  const add = (kind: Kind, parts: readonly (readonly [string, Wire])[]) => added(call, name, kind, {}, parts);
  const namespace: Namespace = {
    ...fields,
    ...timesOf(call),
    parts: {
      objects: add('objects', named(objects)),
      properties: add('properties', Object.entries((properties ?? {}) as Readonly<Record<string, Wire>>)),
      tags: add('tags', named(tags)),
      resource_types: add('resource_types', named(associations)),
    },
  };
  table(call).set(name, namespace);
  call.res.setHeader('Location', `${call.base}${ROOT}/${name}`);
  return created({ ...requested, ...namespaceView(namespace) });
}

function change(call: Call) {
  const requested = bodyOf(call);
  const before = findChangeable(call, 'modify_metadef_namespace');
  const { resource_type_associations: _, objects: __, properties: ___, tags: ____, ...base } = requested;
  const after: Namespace = {
    ...fieldsOf(call, base),
    ...timesOf(call, before),
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
  const namespace = findChangeable(call, 'delete_metadef_namespace');
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
  const limit = limitOf(call);
  const descending = direction === 'desc';
  const all = [...table(call).values()].filter(
    (one) =>
      isVisible(call, one) &&
      (visibility === '' || one.visibility === visibility) &&
      (!types || types.some((type) => Object.hasOwn(one.parts.resource_types, type))),
  );
  const key = query.get('sort_key') ?? 'created_at';
  const ordered = sorted(descending ? all.reverse() : all, [{ key, descending }]);
  const marker = query.get('marker');
  const start = ordered.findIndex(({ namespace }) => namespace === marker) + 1;
  if (marker && start === 0) throw namespaceNotFound(marker);
  const page = ordered.slice(start, start + limit);
  const last = page.at(-1);
  return {
    namespaces: page.map((one) => namespaceWith(one, ['resource_types'])),
    first: pageLink(call, ROOT),
    schema: '/v2/schemas/metadefs/namespaces',
    ...(last && page.length === limit && { next: pageLink(call, ROOT, last.namespace) }),
  };
}

/** The routes for metadata definition namespaces. */
export function namespaceRoutes(): readonly Route[] {
  return [
    get(ROOT, list),
    post(ROOT, create),
    withoutBody(
      get(PATH, (call) => {
        const namespace = find(call);
        const complete = namespaceWith(namespace, ['resource_types', 'objects', 'properties', 'tags']);
        return appliedTo(namespace, call.text('resource_type'), complete);
      }),
    ),
    put(PATH, change),
    withoutBody(del(PATH, remove)),
  ];
}
