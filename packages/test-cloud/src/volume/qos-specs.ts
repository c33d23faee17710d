import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { accepted, del, get, post, put, Reply, type Route, serialized } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { links } from './volume-style.js';
import { metadata, object, requiredName, uniqueList } from './wire-types.js';

const consumer = z.enum(['back-end', 'front-end', 'both']);
const NewSpecs = object({
  qos_specs: z
    .object({ name: requiredName.trim(), consumer: consumer.default('back-end') })
    .catchall(z.union([z.string(), z.number().transform(String)])),
});
const Specs = object({ qos_specs: metadata.and(z.looseObject({ consumer: consumer.optional() })) });
const Keys = object({ keys: uniqueList(text.min(1)) });

/** Returns the ids of the volume types that are associated with QoS specs. */
function associatedTypes(call: Call, id: string): readonly string[] {
  const types = call.cloud.documents.table<Wire>('volume/volume_types');
  return [...types].flatMap(([type, { qos_specs_id }]) => (qos_specs_id === id ? [type] : []));
}

/** The resource for QoS specs. In request bodies, all keys except `name` and `consumer` are specs. */
export const qosSpecs: ResourceSpec = {
  path: 'qos-specs',
  one: 'qos_specs',
  many: 'qos_specs',
  filters: ['name', 'consumer', 'id'],
  admin: ['list', 'show', 'create', 'change', 'remove'],
  verbs: ['list'],
  fields: () => ({
    id: derived(),
    name: derived(),
    consumer: derived(),
    specs: derived(),
    created_at: derived(undefined, { hidden: true }),
    updated_at: derived(undefined, { hidden: true }),
  }),
  routes: (resource) => qosRoutes(resource),
};

function qosRoutes(resource: Resource): readonly Route[] {
  const path = '/v3/qos-specs/:id';
  const find = (call: Call) => resource.find(call, call.param('id'), 'change');
  const specsView = async (call: Call, doc: Doc) => ({
    qos_specs: await resource.show(call, doc),
    links: links(call, `qos-specs/${doc.id}`),
  });
  const associateTypes = (call: Call, types: readonly string[], qos_specs_id: string | null) => {
    const table = call.cloud.documents.table<Wire>('volume/volume_types');
    for (const type of types) table.set(type, { ...table.get(type), qos_specs_id });
  };
  const typeOf = async (call: Call) =>
    (await call.cloud.catalogs.volumes.getType(call.caller, call.text('vol_type_id') ?? '')).id;

  return [
    post('/v3/qos-specs', async (call) => {
      call.requireAdmin();
      const { name, consumer, ...specs } = call.body(NewSpecs).qos_specs;
      const existingSpecs = [...call.cloud.documents.table<Doc>(resource.table).values()];
      if (existingSpecs.some((other) => other.name === name)) throw conflict(`QoS Specs ${name} already exists.`);
      return specsView(call, await resource.storage.create(call, { name, consumer, specs }));
    }),
    get(path, async (call) => specsView(call, await find(call))),
    put(path, async (call) => {
      const before = await find(call);
      const { consumer = before.consumer, ...specs } = call.body(Specs).qos_specs;
      await resource.storage.update(call, before, { consumer, specs: { ...(before.specs as Wire), ...specs } });
      return { qos_specs: call.body(Specs).qos_specs };
    }),
    del(path, async (call) => {
      const { id } = await find(call);
      const typeIds = associatedTypes(call, id);
      if (typeIds.length > 0 && !call.flag('force')) throw badRequest('Qos specs still in use.');
      associateTypes(call, typeIds, null);
      call.cloud.documents.table(resource.table).delete(id);
      return accepted();
    }),
    put(`${path}/delete_keys`, async (call) => {
      const before = await find(call);
      const { keys } = call.body(Keys);
      const specs = before.specs as Wire;
      const missingKey = keys.find((key) => !(key in specs));
      if (missingKey) throw notFound(`QoS spec ${before.id} has no spec with key ${missingKey}.`);
      const remainingTypes = Object.entries(specs).filter(([key]) => !keys.includes(key));
      await resource.storage.update(call, before, { specs: Object.fromEntries(remainingTypes) });
      return accepted();
    }),
    get(`${path}/associations`, async (call) => {
      const { id } = await find(call);
      const types = await call.cloud.catalogs.volumes.listTypes(call.caller);
      const typeIds = associatedTypes(call, id);
      const typesWithSpecs = types.filter((type) => typeIds.includes(type.id));
      return {
        qos_associations: typesWithSpecs.map((type) => ({
          association_type: 'volume_type',
          name: type.name,
          id: type.id,
        })),
      };
    }),
    ...[
      get(`${path}/associate`, async (call) => {
        const { id } = await find(call);
        associateTypes(call, [await typeOf(call)], id);
        return new Reply(202);
      }),
      get(`${path}/disassociate`, async (call) => {
        await find(call);
        associateTypes(call, [await typeOf(call)], null);
        return new Reply(202);
      }),
      get(`${path}/disassociate_all`, async (call) => {
        associateTypes(call, associatedTypes(call, (await find(call)).id), null);
        return new Reply(202);
      }),
    ].map((route) => serialized('collection', route)),
  ];
}
