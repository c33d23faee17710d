import { Rejection } from '@apistrata/compute-engine';
import { validateExtraSpec } from '@apistrata/compute-engine/api';
import { at, since, type Version } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { operation } from '../operation.js';
import { textMap } from '../schemas/reply-types.js';
import { metadataWithNumbers } from '../schemas/types.js';
import { flavorTexts } from '../views/flavor.js';
import { flavorDocs } from './flavors.js';

type Specs = Readonly<Record<string, string>>;

const listPath = '/flavors/{flavor_id}/os-extra_specs';
const itemPath = '/flavors/{flavor_id}/os-extra_specs/{id}';

/** Since 2.86, extra specs are validated. In namespaces that the API defines, only known keys are accepted. */
const validatesSpecs = since('2.86', true);

const singleSpec = metadataWithNumbers.refine((specs) => Object.keys(specs).length === 1, {
  message: 'The request body must contain exactly one extra spec',
});

function validateSpecs(specs: Specs, version: Version): void {
  if (!at(validatesSpecs, version)) return;
  for (const [key, value] of Object.entries(specs)) {
    const problem = validateExtraSpec(key, value);
    if (problem) throw new Rejection('BAD_REQUEST', problem);
  }
}

export const flavorExtraSpecs = [
  operation({
    ...flavorDocs,
    name: 'listFlavorExtraSpecs',
    method: 'GET',
    path: listPath,
    summary: 'List the extra specs of a flavor',
    description:
      'Lists the extra specs of a flavor. Extra specs are key-value pairs that define additional requirements for the scheduler and the driver.',
    policy: 'os_compute_api:os-flavor-extra-specs:index',
    status: 200,
    errors: [404],
    reply: { extra_specs: described(flavorTexts.extraSpecs, textMap) },
    run: async ({ engine, context, params }) => ({
      extra_specs: { ...(await engine.flavors.get(context, params.flavor_id)).extraSpecs },
    }),
  }),
  operation({
    ...flavorDocs,
    name: 'createFlavorExtraSpecs',
    method: 'POST',
    path: listPath,
    summary: 'Create extra specs of a flavor',
    description: 'Creates or replaces extra specs of a flavor. Since 2.86, values of known keys are validated.',
    policy: 'os_compute_api:os-flavor-extra-specs:create',
    status: 200,
    errors: [400, 404, 409],
    when: { 409: 'Another request changed the same extra specs of the flavor concurrently.' },
    body: object({ extra_specs: described(flavorTexts.extraSpecs, metadataWithNumbers) }),
    reply: { extra_specs: described(flavorTexts.extraSpecs, textMap) },
    run: async ({ engine, context, params, body, version }) => {
      validateSpecs(body.extra_specs, version);
      await engine.flavors.setExtraSpecs(context, params.flavor_id, body.extra_specs);
      return body;
    },
  }),
  operation({
    ...flavorDocs,
    name: 'showFlavorExtraSpec',
    method: 'GET',
    path: itemPath,
    summary: 'Show an extra spec of a flavor',
    description: 'Shows an extra spec of a flavor: an object with a single key.',
    policy: 'os_compute_api:os-flavor-extra-specs:show',
    status: 200,
    errors: [404],
    reply: textMap,
    run: async ({ engine, context, params: { flavor_id, id } }) => ({
      [id]: await engine.flavors.extraSpec(context, flavor_id, id),
    }),
  }),
  operation({
    ...flavorDocs,
    name: 'updateFlavorExtraSpec',
    method: 'PUT',
    path: itemPath,
    summary: 'Update an extra spec of a flavor',
    description:
      'Updates an extra spec of a flavor. The request body has exactly one key, which must equal the key in the path. Since 2.86, values of known keys are validated.',
    policy: 'os_compute_api:os-flavor-extra-specs:update',
    status: 200,
    errors: [400, 404, 409],
    when: { 409: 'Another request changed the same extra specs of the flavor concurrently.' },
    body: singleSpec,
    reply: textMap,
    run: async ({ engine, context, params: { flavor_id, id }, body, version }) => {
      if (!Object.hasOwn(body, id)) throw new Rejection('BAD_REQUEST', 'Request body and URI mismatch');
      validateSpecs(body, version);
      await engine.flavors.setExtraSpecs(context, flavor_id, body);
      return body;
    },
  }),
  operation({
    ...flavorDocs,
    name: 'deleteFlavorExtraSpec',
    method: 'DELETE',
    path: itemPath,
    summary: 'Delete an extra spec of a flavor',
    description: 'Deletes an extra spec of a flavor.',
    policy: 'os_compute_api:os-flavor-extra-specs:delete',
    status: 200,
    errors: [404],
    run: ({ engine, context, params }) => engine.flavors.deleteExtraSpec(context, params.flavor_id, params.id),
  }),
];
