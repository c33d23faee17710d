import type { Call } from './call.js';
import type { Resource } from './resource.js';
import { del, get, patch, post, put, Reply, type Route, serialized } from './route.js';
import type { Verb } from './style.js';
import { tagRoutes } from './tag-routes.js';
import type { ViewName } from './view.js';
import type { Wire } from './wire.js';

/** Returns the content of a body's envelope; undefined without an envelope. */
function envelopeContent(body: unknown, key: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, key) ? (body as Wire)[key] : undefined;
}

const requestBody = (call: Call, key: string) => envelopeContent(call.req.body, key);

/** Returns a resource's routes: first the additional routes, then the supported standard routes. */
export function resourceRoutes(resource: Resource): readonly Route[] {
  const { style, spec, verbs } = resource;
  const { one, many, statuses, views = {} } = spec;
  const applyView = (name: ViewName, wire: Wire) => (views[name] ? views[name](wire) : wire);
  /** Returns the response body for one resource, in an envelope if the service uses envelopes. */
  function responseBody(name: ViewName, wire: Wire): unknown {
    const shown = applyView(name, wire);
    return style.bare || shown === undefined ? shown : { [one]: shown };
  }
  const fieldsOf = (call: Call) => (style.bare ? call.req.body : requestBody(call, one));
  const collectionPath = `${style.root}/${spec.path}`;
  const itemPath = `${collectionPath}/:id`;
  const id = (call: Call) => call.param('id');

  async function create(call: Call): Promise<Reply> {
    const status = statuses?.create ?? style.statuses.create;
    const bulkItems = style.bulk || spec.bulk ? requestBody(call, many) : undefined;
    if (Array.isArray(bulkItems)) {
      // In a bulk request, each item may have its own envelope.
      const requestedItems = bulkItems.map((item: unknown) => envelopeContent(item, one) ?? item);
      return new Reply(status, { [many]: await resource.createAll(call, requestedItems) });
    }
    if (spec.bulk === 'only') throw style.errors.noBody(resource);
    return new Reply(status, responseBody('create', await resource.create(call, fieldsOf(call))));
  }

  async function remove(call: Call): Promise<Reply> {
    await resource.remove(call, id(call));
    return new Reply(statuses?.remove ?? style.statuses.remove);
  }

  async function list(call: Call, name: ViewName): Promise<unknown> {
    const listBody = style.list(call, resource, await resource.list(call));
    if (!views[name]) return listBody;
    const body = listBody as Readonly<Record<string, readonly Wire[]>>;
    return { ...body, [many]: (body[many] ?? []).map((wire) => applyView(name, wire)) };
  }

  const standardRoutes: Readonly<Record<Verb, Route>> = {
    list: get(collectionPath, (call) => list(call, 'list')),
    create: serialized(spec.serializedBy?.create ?? 'collection', post(collectionPath, create)),
    show: get(itemPath, async (call) => {
      const shown = await resource.show(call, await resource.find(call, id(call)));
      return responseBody('show', style.selected?.(call, shown) ?? shown);
    }),
    change: (style.change === 'put' ? put : patch)(itemPath, async (call) => {
      const changed = await resource.change(call, id(call), fieldsOf(call));
      return new Reply(statuses?.change ?? 200, responseBody('change', changed));
    }),
    remove: del(itemPath, remove),
  };
  const routes = [
    ...(spec.routes?.(resource) ?? []),
    ...(spec.tags === true ? tagRoutes(resource) : []),
    ...(style.detailedLists && views.list ? [get(`${collectionPath}/detail`, (call) => list(call, 'show'))] : []),
    ...verbs.map((verb) => standardRoutes[verb]),
  ];
  const changesSerializedBy = spec.serializedBy?.change ?? (spec.storage && 'resource');
  return routes.map((route) => (route.method === 'get' ? route : serialized(changesSerializedBy, route)));
}
