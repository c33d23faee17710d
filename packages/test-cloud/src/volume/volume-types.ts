import type { VolumeTypeRecord } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { changeable, derived, fixed, required, settable } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { accepted, del, get, post, put, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { anyId, integerBetween } from '../service/wire-types.js';
import { type Action, createActionRoute, defineAction } from './action-route.js';
import { renameLimits } from './quota-routes.js';
import { specRoutes, visibleSpecs } from './spec-routes.js';
import { isOfVisibility, requireValues } from './volume-style.js';
import { boolean, metadata, object, optionalText, requiredName } from './wire-types.js';

const encryption = {
  // Cinder accepts an empty provider, which the Go SDK sends with each change.
  provider: z.string().max(255),
  cipher: z.string().max(255).nullish(),
  key_size: integerBetween(0, 2 ** 31 - 1).nullish(),
  control_location: z.enum(['front-end', 'back-end']),
};
const NewEncryption = object({ encryption: z.looseObject(encryption) });
const EncryptionChange = object({ encryption: z.object(encryption).partial().loose() });

/** The key of the field `is_public` in create requests and in responses. */
const IS_PUBLIC = 'os-volume-type-access:is_public';

const access = ({ cloud }: Call) => cloud.documents.table<readonly string[]>('volume/type-access');
export const encryptionTable = ({ cloud }: Call) => cloud.documents.table<Wire>('volume/type-encryption');

function docOf(type: VolumeTypeRecord): Doc {
  return {
    id: type.id,
    name: type.name,
    description: type.description,
    is_public: type.isPublic,
    [IS_PUBLIC]: type.isPublic,
    extra_specs: type.extraSpecs,
  };
}

const isVisible = (call: Call, type: Doc) =>
  call.isAdmin || type.is_public === true || (access(call).get(type.id) ?? []).includes(call.caller.projectId);

async function isInUse({ cloud, caller }: Call, { name }: Doc): Promise<boolean> {
  const volumes = await cloud.catalogs.volumes.listVolumes(caller, { allProjects: true });
  return volumes.some(({ volumeType }) => volumeType === name);
}

/** Returns the volume type with the given id or name. Throws a 404 error if the caller may not use the type. */
export async function findVisibleType(call: Call, idOrName: string): Promise<VolumeTypeRecord> {
  const type = await call.cloud.catalogs.volumes.getType(call.caller, idOrName);
  if (!isVisible(call, docOf(type))) throw notFound(`Volume type ${idOrName} could not be found.`);
  return type;
}

/** The resource for volume types. Non-administrators see public types and those to which their project has access. */
export const volumeTypes: ResourceSpec = {
  path: 'types',
  one: 'volume_type',
  many: 'volume_types',
  title: 'Volume type',
  filters: ['name', 'description', 'extra_specs', 'is_public'],
  admin: ['create', 'change', 'remove'],
  statuses: { create: 200 },
  fields: () => ({
    id: derived(),
    name: required(settable(requiredName)),
    description: settable(optionalText),
    is_public: changeable(boolean),
    [IS_PUBLIC]: fixed(boolean),
    extra_specs: fixed(metadata),
    qos_specs_id: derived(null, { admin: 'read', inDocuments: true }),
  }),
  views: { create: withoutFields('qos_specs_id'), change: withoutFields('qos_specs_id', IS_PUBLIC) },
  changing: requireValues('volume type name, description, is_public'),
  shows: (call, { extra_specs }) => ({ extra_specs: visibleSpecs(call, extra_specs as Record<string, string>) }),
  async removing(call, { id }) {
    const defaultTypeIds = [...call.cloud.documents.table<string>('volume/default-types').values()];
    if (defaultTypeIds.includes(id) || (await call.cloud.catalogs.volumes.defaultType())?.id === id)
      throw badRequest(`The volume type ${id} is a default volume type and cannot be deleted.`);
  },
  lists: (call, type) => {
    if (!isVisible(call, type)) return false;
    return !call.isAdmin || isOfVisibility(call, type.is_public);
  },
  routes: (resource) => [
    get('/v3/types/default', async (call) => {
      const configured = call.cloud.documents.table<string>('volume/default-types').get(call.caller.projectId);
      const { volumes } = call.cloud.catalogs;
      const type = configured ? await volumes.getType(call.caller, configured) : await volumes.defaultType();
      if (!type) throw notFound('Default volume type can not be found.');
      return { volume_type: await resource.show(call, docOf(type)) };
    }),
    ...specRoutes(resource, {
      field: 'extra_specs',
      names: ['Volume Type', 'extra specs'],
      created: 200,
      isUsed: isInUse,
    }),
    ...encryptionRoutes(resource),
    ...accessRoutes(resource),
  ],
  storage: {
    list: async ({ cloud, caller }) => (await cloud.catalogs.volumes.listTypes(caller)).map(docOf).reverse(),
    /** Returns the volume type in the path. Names are accepted only in create requests for volumes. */
    get: async (call, id) => {
      const type = docOf(await call.cloud.catalogs.volumes.getType(call.caller, id));
      return type.id === id && isVisible(call, type) ? type : undefined;
    },
    create: async ({ cloud, caller }, requested) =>
      docOf(
        await cloud.catalogs.volumes.createType(caller, {
          name: String(requested.name),
          description: (requested.description as string | null) ?? null,
          isPublic: (requested[IS_PUBLIC] as boolean | undefined) ?? true,
          extraSpecs: (requested.extra_specs as Record<string, string> | null) ?? {},
        }),
      ),
    update: async (call, { id, name }, change) => {
      const type = await call.cloud.catalogs.volumes.updateType(call.caller, id, {
        name: change.name as string | undefined,
        description: change.description as string | null | undefined,
        isPublic: change.is_public as boolean | undefined,
        extraSpecs: change.extra_specs as Record<string, string> | undefined,
      });
      if (type.name !== name) renameLimits(call, String(name), type.name);
      return docOf(type);
    },
    remove: async (call, { id }) => {
      await call.cloud.catalogs.volumes.deleteType(call.caller, id);
      access(call).delete(id);
      encryptionTable(call).delete(id);
    },
  },
};

/** The routes for volume types' encryption settings, which are stored and returned but have no effect. */
function encryptionRoutes(resource: Resource): readonly Route[] {
  const path = '/v3/types/:id/encryption';
  const findTypeForEncryption = async (call: Call, change?: string) => {
    call.requireAdmin();
    const type = await resource.find(call, call.param('id'));
    if (change && (await isInUse(call, type)))
      throw badRequest(`Cannot ${change} encryption specs. Volume type in use.`);
    return type;
  };
  const encryptionNotFound = (call: Call) =>
    notFound(`Volume type encryption for type ${call.param('id')} does not exist.`);
  return [
    get(path, async (call) => encryptionTable(call).get((await findTypeForEncryption(call)).id) ?? {}),
    post(path, async (call) => {
      const { id } = await findTypeForEncryption(call, 'create');
      if (encryptionTable(call).has(id)) throw badRequest(`Volume type encryption for type ${id} already exists.`);
      const { encryption: requested } = call.body(NewEncryption);
      const ids = { volume_type_id: id, encryption_id: id };
      encryptionTable(call).set(id, { ...ids, deleted: false, cipher: null, key_size: null, ...requested });
      return { encryption: { ...requested, ...ids } };
    }),
    get(`${path}/:key`, async (call) => {
      const encryptionValue = encryptionTable(call).get((await findTypeForEncryption(call)).id)?.[call.param('key')];
      if (encryptionValue === undefined) throw encryptionNotFound(call);
      return { [call.param('key')]: encryptionValue };
    }),
    put(`${path}/:key`, async (call) => {
      const { id } = await findTypeForEncryption(call, 'update');
      const before = encryptionTable(call).get(id);
      if (!before) throw encryptionNotFound(call);
      const { encryption: requested } = call.body(EncryptionChange);
      encryptionTable(call).set(id, { ...before, ...requested });
      return { encryption: requested };
    }),
    del(`${path}/:key`, async (call) => {
      if (!encryptionTable(call).delete((await findTypeForEncryption(call, 'delete')).id))
        throw encryptionNotFound(call);
      return accepted();
    }),
  ];
}

const accessAction = (adds: boolean): Action<Doc> =>
  defineAction(object({ project: anyId }), (call, type, { project }) => {
    const before = access(call).get(type.id) ?? [];
    if (type.is_public) throw conflict('Type access modification is not applicable to public volume type.');
    if (adds === before.includes(project))
      throw adds
        ? conflict(`Volume type access for ${type.id} / ${project} combination already exists.`)
        : notFound(`Volume type access not found for ${type.id} / ${project} combination.`);
    access(call).set(type.id, adds ? [...before, project] : before.filter((other) => other !== project));
  });

/** The routes for projects' access to private volume types. */
function accessRoutes(resource: Resource): readonly Route[] {
  return [
    get('/v3/types/:id/os-volume-type-access', async (call) => {
      call.requireAdmin();
      const type = await resource.find(call, call.param('id'));
      if (type.is_public) throw notFound('Access list not available for public volume types.');
      const projectIds = access(call).get(type.id) ?? [];
      return { volume_type_access: projectIds.map((project_id) => ({ volume_type_id: type.id, project_id })) };
    }),
    createActionRoute('types/:id', (call) => resource.find(call, call.param('id'), 'change'), {
      addProjectAccess: accessAction(true),
      removeProjectAccess: accessAction(false),
    }),
  ];
}
