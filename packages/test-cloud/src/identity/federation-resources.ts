import { z } from 'zod';
import type { Call } from '../service/call.js';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { created, put } from '../service/route.js';
import { conflict } from '../service/service-error.js';

const mappingRule = z.looseObject({
  local: z.array(z.record(z.string(), z.unknown())).min(1),
  remote: z.array(z.looseObject({ type: z.string() })).min(1),
});

/** Mappings from the attributes of an external identity provider to local users, groups and projects. */
const mappings: ResourceSpec = {
  path: 'OS-FEDERATION/mappings',
  one: 'mapping',
  many: 'mappings',
  verbs: ['list', 'show', 'change', 'remove'],
  admin: ['list', 'show', 'create', 'change', 'remove'],
  fields: () => ({
    id: fixed(z.string().max(64)),
    rules: required(settable(z.array(mappingRule).min(1))),
    schema_version: settable(z.enum(['1.0', '2.0']), '1.0'),
  }),
  creating({ cloud }: Call, { id }) {
    if (cloud.documents.table('identity/mappings').has(String(id)))
      throw conflict(`Conflict occurred attempting to store mapping - Duplicate entry found with ID ${id}.`);
    return undefined;
  },
  routes: (resource) => [
    put('/v3/OS-FEDERATION/mappings/:id', async (call) => {
      const requested = (call.req.body?.mapping ?? {}) as Record<string, unknown>;
      return created({ mapping: await resource.create(call, { ...requested, id: call.param('id') }) });
    }),
  ],
};

export const federationResources: readonly ResourceSpec[] = [mappings];
