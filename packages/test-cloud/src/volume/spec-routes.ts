import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { accepted, del, get, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { object, specs as specMap } from './wire-types.js';

type Specs = Readonly<Record<string, string>>;

/** The specs of volume types that all callers can see. */
const VISIBLE_SPECS = ['RESKEY:availability_zones', 'multiattach', 'replication_enabled'];

/** Returns the volume type specs that the caller may see. */
export const visibleSpecs = (call: Call, specs: Specs): Specs =>
  call.isAdmin ? specs : Object.fromEntries(Object.entries(specs).filter(([key]) => VISIBLE_SPECS.includes(key)));

/** The options that differ between volume type specs and group type specs. */
interface SpecOptions {
  /** The name of the field that contains the specs, which is also the last part of the path. */
  readonly field: 'extra_specs' | 'group_specs';
  /** The names of the type and its specs in error messages, which contain the type's id between these names. */
  readonly names: readonly [type: string, specs: string];
  /** The status of responses to POST requests. */
  readonly created: number;
  /** Whether only administrators see all specs; other callers see some of them. */
  readonly admin?: true;
  /** Whether the specs of a type cannot be changed while resources use the type. */
  readonly isUsed?: (call: Call, type: Doc) => Promise<boolean>;
}

/** Returns the routes for a type's specs: for all specs and for single specs. Schedulers and drivers read specs. */
export function specRoutes(
  resource: Resource,
  { field, names, created, admin, isUsed }: SpecOptions,
): readonly Route[] {
  const path = `/v3/${resource.spec.path}/:id/${field}`;
  const Body = object({ [field]: specMap });
  async function specsOf(call: Call): Promise<Specs> {
    if (admin) call.requireAdmin();
    return visibleSpecs(call, (await resource.find(call, call.param('id')))[field] as Specs);
  }
  const specNotFound = (call: Call) =>
    notFound(`${names[0]} ${call.param('id')} has no ${names[1]} with key ${call.param('key')}.`);

  async function changeSpecs(call: Call, applyChange: (before: Specs) => Specs) {
    const before = await resource.find(call, call.param('id'), 'change');
    if (await isUsed?.(call, before)) throw badRequest('Volume Type is currently in use.');
    await resource.apply(call, before, { [field]: applyChange(before[field] as Specs) });
  }

  return [
    get(path, async (call) => ({ [field]: await specsOf(call) })),
    post(path, async (call) => {
      const specs = call.body(Body)[field];
      await changeSpecs(call, (before) => ({ ...before, ...specs }));
      return new Reply(created, { [field]: specs });
    }),
    get(`${path}/:key`, async (call) => {
      const value = (await specsOf(call))[call.param('key')];
      if (value === undefined) throw specNotFound(call);
      return { [call.param('key')]: value };
    }),
    put(`${path}/:key`, async (call) => {
      const requested = call.body(specMap);
      if (Object.keys(requested).length !== 1) throw badRequest(`${JSON.stringify(requested)} has too many properties`);
      if (!(call.param('key') in requested)) throw badRequest('Request body and URI mismatch');
      await changeSpecs(call, (before) => ({ ...before, ...requested }));
      return requested;
    }),
    del(`${path}/:key`, async (call) => {
      await changeSpecs(call, ({ [call.param('key')]: removed, ...rest }) => {
        if (removed === undefined) throw specNotFound(call);
        return rest;
      });
      return accepted();
    }),
  ];
}
