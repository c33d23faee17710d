import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { accepted, del, get, post, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { CreateType, ExtraSpecs, UpdateType } from './volume-bodies.js';
import { typeView } from './volume-views.js';

type Volumes = () => EmbeddedCatalogs['volumes'];

/** Volume types: who is no administrator sees the public ones. */
export function typeRoutes(volumes: Volumes): readonly Route[] {
  /** Here, unlike for new volumes, only an id names a type. */
  async function find(call: Call) {
    const type = await volumes().getType(call.caller, call.param('id'));
    if (type.id !== call.param('id') || !(type.isPublic || call.isAdmin))
      throw notFound(`Volume type ${call.param('id')} could not be found.`);
    return type;
  }

  async function changeSpecs(call: Call, change: (before: Readonly<Record<string, string>>) => Record<string, string>) {
    call.requireAdmin();
    const { id, extraSpecs } = await find(call);
    const changed = change(extraSpecs);
    await volumes().updateType(call.caller, id, { extraSpecs: changed });
    return { extra_specs: changed };
  }

  return [
    get('/v3/types', async (call) => {
      const all = await volumes().listTypes(call.caller);
      const wanted = call.isAdmin ? call.flag('is_public') : true;
      const anyKind = call.isAdmin && (wanted === undefined || call.query.get('is_public') === 'None');
      const shown = all.filter(({ isPublic }) => anyKind || isPublic === wanted);
      return { volume_types: shown.map((type) => typeView(type, call.isAdmin)) };
    }),
    post('/v3/types', async (call) => {
      call.requireAdmin();
      const { volume_type: wanted } = call.body(CreateType);
      const type = await volumes().createType(call.caller, {
        name: wanted.name,
        description: wanted.description ?? null,
        isPublic: wanted['os-volume-type-access:is_public'],
        extraSpecs: wanted.extra_specs,
      });
      return { volume_type: typeView(type, true) };
    }),
    get('/v3/types/default', async (call) => {
      const type = await volumes().defaultType();
      if (!type) throw notFound('Default volume type can not be found.');
      return { volume_type: typeView(type, call.isAdmin) };
    }),
    get('/v3/types/:id', async (call) => ({ volume_type: typeView(await find(call), call.isAdmin) })),
    put('/v3/types/:id', async (call) => {
      call.requireAdmin();
      const { volume_type: wanted } = call.body(UpdateType);
      const { id } = await find(call);
      const type = await volumes().updateType(call.caller, id, {
        name: wanted.name ?? undefined,
        description: wanted.description,
        isPublic: wanted.is_public ?? undefined,
      });
      return { volume_type: typeView(type, true) };
    }),
    del('/v3/types/:id', async (call) => {
      call.requireAdmin();
      await volumes().deleteType(call.caller, (await find(call)).id);
      return accepted();
    }),
    get('/v3/types/:id/extra_specs', async (call) => ({ extra_specs: (await find(call)).extraSpecs })),
    post('/v3/types/:id/extra_specs', (call) =>
      changeSpecs(call, (before) => ({ ...before, ...call.body(ExtraSpecs).extra_specs })),
    ),
    del('/v3/types/:id/extra_specs/:key', async (call) => {
      await changeSpecs(call, ({ [call.param('key')]: _, ...rest }) => rest);
      return accepted();
    }),
    get('/v3/types/:id/encryption', () => ({})),
    get('/v3/types/:id/os-volume-type-access', () => ({ volume_type_access: [] })),
  ];
}
