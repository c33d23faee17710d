import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { derived, required, settable } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { authorize } from './authorize.js';
import { endpointsMatching, groupAssociations, showEndpoint } from './catalog.js';
import { listOf } from './identity-style.js';
import { nameUpTo, nullableText } from './identity-types.js';
import type { Action } from './policies.js';

const withoutSecret = withoutFields('secret');

/** OAuth consumers, to which users can delegate roles. Only the create response contains a consumer's secret. */
const consumers: ResourceSpec = {
  path: 'OS-OAUTH1/consumers',
  one: 'consumer',
  many: 'consumers',
  authorizesFirst: true,
  fields: () => ({ id: derived(), description: settable(nullableText, null), secret: derived() }),
  changing(call) {
    if (Object.hasOwn(call.req.body.consumer, 'secret')) throw badRequest('Cannot change consumer secret');
    return undefined;
  },
  creating: () => ({ secret: randomBytes(16).toString('hex') }),
  removing: ({ cloud }, { id }) => cloud.directory.removeReferencesTo(id),
  views: { list: withoutSecret, show: withoutSecret, change: withoutSecret },
  routes: (resource) => [
    post('/v3/OS-OAUTH1/consumers', async (call) =>
      created({ consumer: await resource.create(call, call.req.body?.consumer ?? {}) }),
    ),
  ],
};

const EndpointFilters = z.looseObject({
  interface: z.enum(['admin', 'internal', 'public']).optional(),
  service_id: z.string().optional(),
  region_id: nullableText.optional(),
  enabled: z.boolean().optional(),
});
const FILTER_KEYS = ['service_id', 'region_id', 'interface'];

/** Endpoint groups. Each group associates projects with all endpoints that match the group's filters. */
const endpointGroups: ResourceSpec = {
  path: 'OS-EP-FILTER/endpoint_groups',
  one: 'endpoint_group',
  many: 'endpoint_groups',
  unknownFields: () => 'reject',
  filters: ['name'],
  fields: () => ({
    id: derived(),
    name: required(settable(nameUpTo(255))),
    description: settable(nullableText, null),
    filters: required(settable(EndpointFilters)),
  }),
  creating(_call, { filters }) {
    if (Object.keys(filters as Wire).length === 0) throw badRequest('filters field is required and cannot be empty');
    checkFilters(filters);
    return undefined;
  },
  changing(_call, _before, { filters }) {
    checkFilters(filters);
    return undefined;
  },
  removing: ({ cloud }, { id }) => cloud.directory.removeReferencesTo(id),
  routes: endpointGroupRoutes,
};

function checkFilters(filters: unknown): void {
  if (Object.keys((filters ?? {}) as Wire).some((key) => !FILTER_KEYS.includes(key)))
    throw badRequest(`Expecting to find ${FILTER_KEYS.join(' or ')} in endpoint_group.`);
}

function endpointGroupRoutes(resource: Resource): readonly Route[] {
  const path = '/v3/OS-EP-FILTER/endpoint_groups/:group';
  const associationPath = `${path}/projects/:project`;
  const associations = ({ cloud }: Call) => groupAssociations(cloud.documents);
  const missingAssociation = () => notFound('Could not find endpoint group project relationship.');

  async function requestedPair(call: Call, action: Action) {
    authorize(call, action);
    const { id: group } = await resource.find(call, call.param('group'));
    const project = call.param('project');
    if (!call.cloud.directory.state.projects.has(project)) throw notFound(`Could not find project: ${project}.`);
    return { key: `${group}/${project}`, pair: { group, project } };
  }

  return [
    put(associationPath, async (call) => {
      const { key, pair } = await requestedPair(call, 'add_endpoint_group_to_project');
      associations(call).set(key, pair);
      return noContent();
    }),
    get(associationPath, async (call) => {
      const { key, pair } = await requestedPair(call, 'get_endpoint_group_in_project');
      if (!associations(call).has(key)) throw missingAssociation();
      const links = { self: `${call.base}/v3/OS-EP-FILTER/endpoint_groups/${pair.group}/projects/${pair.project}` };
      return { project_endpoint_group: { endpoint_group_id: pair.group, project_id: pair.project, links } };
    }),
    del(associationPath, async (call) => {
      const { key } = await requestedPair(call, 'remove_endpoint_group_from_project');
      if (!associations(call).delete(key)) throw missingAssociation();
      return noContent();
    }),
    get(`${path}/projects`, async (call) => {
      authorize(call, 'list_projects_associated_with_endpoint_group');
      const { id } = await resource.find(call, call.param('group'));
      const matching = [...associations(call).values()].filter(({ group }) => group === id);
      const { projects } = call.cloud.directory.state;
      return listOf(
        'projects',
        call,
        matching.flatMap(({ project }) => projects.get(project) ?? []),
      );
    }),
    get(`${path}/endpoints`, async (call) => {
      authorize(call, 'list_endpoints_associated_with_endpoint_group');
      const { filters } = await resource.find(call, call.param('group'));
      const matching = endpointsMatching(call.cloud.documents, filters);
      return listOf(
        'endpoints',
        call,
        matching.map((endpoint) => showEndpoint(endpoint, call.cloudBase)),
      );
    }),
    get('/v3/OS-EP-FILTER/projects/:project/endpoint_groups', async (call) => {
      authorize(call, 'list_endpoint_groups_for_project');
      const matching = [...associations(call).values()].filter(({ project }) => project === call.param('project'));
      const foundGroups = await Promise.all(matching.map(({ group }) => resource.find(call, group)));
      return listOf('endpoint_groups', call, await Promise.all(foundGroups.map((doc) => resource.show(call, doc))));
    }),
  ];
}

/** The resources for OAuth consumers and endpoint groups. */
export const extensionResources: readonly ResourceSpec[] = [consumers, endpointGroups];
