import { since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { description, lenientBoolean, name, nonNegativeInteger, positiveInteger } from '../schemas/types.js';
import { flavorDetail, flavorTexts } from '../views/flavor.js';
import { flavorDocs } from './flavors.js';

const flavorIdText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?! )[a-zA-Z0-9. _-]+(?<! )$/);
const flavorId = z.union([flavorIdText, z.number().transform(String).pipe(flavorIdText), z.null()]);

const factor = z.number().positive().max(3.40282e38);
const rxtxFactor = z.union([
  factor,
  z
    .string()
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .transform(Number)
    .pipe(factor),
]);

const flavorDescription = description(65535);

export const flavorManagement = [
  operation({
    ...flavorDocs,
    name: 'createFlavor',
    method: 'POST',
    path: '/flavors',
    summary: 'Create a flavor',
    description: 'Creates a flavor. Only the description can be changed later.',
    policy: 'os_compute_api:os-flavor-manage:create',
    status: 200,
    errors: [400, 409],
    when: { 409: 'A flavor with this name or ID already exists.' },
    body: object({
      flavor: described(
        flavorTexts.flavor,
        object({
          name: described(flavorTexts.name, name),
          id: described(flavorTexts.id, flavorId.optional()),
          ram: described(flavorTexts.ram, positiveInteger),
          vcpus: described(flavorTexts.vcpus, positiveInteger),
          disk: described(flavorTexts.disk, nonNegativeInteger),
          'OS-FLV-EXT-DATA:ephemeral': described(flavorTexts.ephemeral, nonNegativeInteger.optional()),
          swap: described(flavorTexts.swap, nonNegativeInteger.optional()),
          'os-flavor-access:is_public': described(flavorTexts.osFlavorAccessIsPublic, lenientBoolean.optional()),
          rxtx_factor: until('2.101', described(flavorTexts.rxtxFactor, rxtxFactor.optional())),
          description: since('2.55', described(flavorTexts.description, flavorDescription.optional())),
        }),
      ),
    }),
    reply: { flavor: described(flavorTexts.flavor, flavorDetail) },
    run: async ({ engine, body: { flavor } }) => ({
      flavor: await engine.flavors.create({
        id: flavor.id ?? undefined,
        name: flavor.name,
        memoryMb: flavor.ram,
        vcpus: flavor.vcpus,
        diskGb: flavor.disk,
        ephemeralGb: flavor['OS-FLV-EXT-DATA:ephemeral'],
        swapMb: flavor.swap,
        isPublic: flavor['os-flavor-access:is_public'],
        rxtxFactor: flavor.rxtx_factor,
        description: flavor.description,
      }),
    }),
  }),
  operation({
    ...flavorDocs,
    name: 'updateFlavor',
    method: 'PUT',
    path: '/flavors/{id}',
    window: since('2.55', true),
    summary: 'Update the description of a flavor',
    description:
      'Updates the description of a flavor. Other attributes cannot be changed, because servers keep a copy of their flavor.',
    policy: 'os_compute_api:os-flavor-manage:update',
    status: 200,
    errors: [400, 404],
    body: object({
      flavor: described(
        flavorTexts.flavor,
        object({ description: described(flavorTexts.description, flavorDescription) }),
      ),
    }),
    reply: { flavor: described(flavorTexts.flavor, flavorDetail) },
    run: async ({ engine, context, params, body }) => ({
      flavor: await engine.flavors.describe(context, params.id, body.flavor.description),
    }),
  }),
  operation({
    ...flavorDocs,
    name: 'deleteFlavor',
    method: 'DELETE',
    path: '/flavors/{id}',
    summary: 'Delete a flavor',
    description: 'Deletes a flavor. Existing servers are not affected, because they keep a copy of the flavor.',
    policy: 'os_compute_api:os-flavor-manage:delete',
    status: 202,
    errors: [404],
    run: ({ engine, context, params }) => engine.flavors.delete(context, params.id),
  }),
];
