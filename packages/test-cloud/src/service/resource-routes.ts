import type { Call } from './call.js';
import type { Wire } from './listing.js';
import type { Resource } from './resource.js';
import { del, get, patch, post, put, Reply, type Route } from './route.js';
import type { Verb } from './style.js';
import { tagRoutes } from './tag-routes.js';

/** The envelope's content; undefined when there is none. */
function enclosed(call: Call, key: string): unknown {
  const body: unknown = call.req.body;
  return typeof body === 'object' && body !== null && Object.hasOwn(body, key) ? (body as Wire)[key] : undefined;
}

/** The paths of a resource: what it does besides, then the usual ones, as far as it has them. */
export function resourceRoutes(resource: Resource): readonly Route[] {
  const { style, spec, verbs } = resource;
  const { one, many, statuses } = spec;
  /** One of them as a body, in its envelope where the service has some. */
  const enveloped = (wire: Wire) => (style.bare ? wire : { [one]: wire });
  const given = (call: Call) => (style.bare ? call.req.body : enclosed(call, one));
  const all = `${style.root}/${spec.path}`;
  const each = `${all}/:id`;
  const id = (call: Call) => call.param('id');

  async function create(call: Call): Promise<Reply> {
    const status = statuses?.create ?? style.statuses.create;
    const several = style.bulk || spec.bulk ? enclosed(call, many) : undefined;
    if (Array.isArray(several)) return new Reply(status, { [many]: await resource.createAll(call, several) });
    if (spec.bulk === 'only') throw style.errors.noBody(resource);
    return new Reply(status, enveloped(await resource.create(call, given(call))));
  }

  async function remove(call: Call): Promise<Reply> {
    await resource.remove(call, id(call));
    return new Reply(statuses?.remove ?? style.statuses.remove);
  }

  async function list(call: Call): Promise<unknown> {
    return style.list(call, resource, await resource.list(call));
  }

  /** The same list with only the brief form of each. */
  function inBrief(call: Call, listed: unknown): unknown {
    const { brief } = spec;
    if (!brief) return listed;
    const body = listed as Readonly<Record<string, readonly Wire[]>>;
    return { ...body, [many]: body[many]!.map((wire) => brief(call, wire)) };
  }

  const usual: Readonly<Record<Verb, Route>> = {
    list: get(all, async (call) => inBrief(call, await list(call))),
    create: post(all, create),
    show: get(each, async (call) => enveloped(await resource.show(call, await resource.find(call, id(call))))),
    change: (style.change === 'put' ? put : patch)(each, async (call) =>
      enveloped(await resource.change(call, id(call), given(call))),
    ),
    remove: del(each, remove),
  };
  return [
    ...(spec.routes?.(resource) ?? []),
    ...(spec.tags ? tagRoutes(resource) : []),
    ...(spec.brief ? [get(`${all}/detail`, list)] : []),
    ...verbs.map((verb) => usual[verb]),
  ];
}
