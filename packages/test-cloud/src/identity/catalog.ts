import type { Doc, Documents } from '../service/documents.js';
import type { Wire } from '../service/wire.js';
import { stableId } from './new-id.js';

/** The cloud's services, which share one address. */
const SERVICES = [
  { type: 'identity', name: 'keystone', path: '/identity/v3' },
  { type: 'compute', name: 'nova', path: '/compute/v2.1' },
  { type: 'image', name: 'glance', path: '/image' },
  { type: 'network', name: 'neutron', path: '/network' },
  { type: 'volumev3', name: 'cinderv3', path: '/volume/v3/$(project_id)s' },
  { type: 'block-storage', name: 'cinder', path: '/volume/v3/$(project_id)s' },
  { type: 'placement', name: 'placement', path: '/placement' },
] as const;

export const DEFAULT_REGION = 'RegionOne';
const ENDPOINT_INTERFACES = ['public', 'internal', 'admin'] as const;

/** The placeholder for the cloud's URL in stored endpoints. The URL is known only during a request. */
const CLOUD_URL_PLACEHOLDER = '{cloud}';

/** Creates the initial services, endpoints and region. */
export function seedCatalog(documents: Documents): void {
  documents
    .table<Doc>('identity/regions')
    .set(DEFAULT_REGION, { id: DEFAULT_REGION, description: '', parent_region_id: null });
  const endpoints = documents.table<Doc>('identity/endpoints');
  for (const { type, name, path } of SERVICES) {
    const service = stableId('endpoint', `${type}/service`);
    documents.table<Doc>('identity/services').set(service, { id: service, type, name, enabled: true, description: '' });
    for (const interfaceName of ENDPOINT_INTERFACES) {
      const id = stableId('endpoint', `${type}/${interfaceName}`);
      const regionAndUrl = {
        region: DEFAULT_REGION,
        region_id: DEFAULT_REGION,
        url: `${CLOUD_URL_PLACEHOLDER}${path}`,
      };
      endpoints.set(id, { id, interface: interfaceName, service_id: service, enabled: true, ...regionAndUrl });
    }
  }
}

/** Returns the URL of an endpoint, with the cloud's URL in place of the placeholder. */
export function endpointUrl(url: unknown, cloudUrl: string): string {
  return String(url).replace(CLOUD_URL_PLACEHOLDER, cloudUrl);
}

/** Returns the wire format of an endpoint. */
export const showEndpoint = (endpoint: Doc, cloudUrl: string): Wire => ({
  ...endpoint,
  url: endpointUrl(endpoint.url, cloudUrl),
});

/**
 * The tables that associate projects with endpoints (keys `project/endpoint`) and endpoint groups (keys
 * `group/project`).
 */
export const endpointAssociations = (documents: Documents) =>
  documents.table<{ project: string; endpoint: string }>('identity/endpoint-filter');
export const groupAssociations = (documents: Documents) =>
  documents.table<{ project: string; group: string }>('identity/endpoint-group-projects');

/** Returns the endpoints that match the filters of an endpoint group. */
export const endpointsMatching = (documents: Documents, filters: unknown): readonly Doc[] =>
  [...documents.table<Doc>('identity/endpoints').values()].filter((endpoint) =>
    Object.entries(filters as Wire).every(([key, value]) => endpoint[key] === value),
  );

/** Returns the endpoints that are associated with a project, either directly or through an endpoint group. */
export function endpointsOfProject(documents: Documents, id: string): readonly Doc[] {
  const endpoints = documents.table<Doc>('identity/endpoints');
  const endpointGroups = documents.table<Doc>('identity/endpoint_groups');
  const directAssociations = [...endpointAssociations(documents).values()].filter(({ project }) => project === id);
  const associatedGroups = [...groupAssociations(documents).values()].filter(({ project }) => project === id);
  const foundEndpoints = [
    ...directAssociations.flatMap(({ endpoint }) => endpoints.get(endpoint) ?? []),
    ...associatedGroups.flatMap(({ group }) => {
      const filters = endpointGroups.get(group)?.filters;
      return filters ? endpointsMatching(documents, filters) : [];
    }),
  ];
  return [...new Set(foundEndpoints)];
}

/** The user and project for which a catalog is generated. */
interface CatalogScope {
  readonly userId: string;
  readonly projectId?: string;
}

/**
 * Returns the service catalog for a user and project, with their IDs in the endpoint URLs. Omits disabled endpoints
 * and, without a project, endpoints whose URL requires a project. If a project has associated endpoints, only these are
 * returned.
 */
export function catalogFor(documents: Documents, cloudUrl: string, { userId, projectId }: CatalogScope) {
  const associatedEndpoints = projectId ? endpointsOfProject(documents, projectId) : [];
  const candidateEndpoints =
    associatedEndpoints.length > 0 ? associatedEndpoints : [...documents.table<Doc>('identity/endpoints').values()];
  const endpoints = candidateEndpoints.flatMap((endpoint) => {
    const url = endpointUrl(endpoint.url, cloudUrl).replace(/[$%]\(user_id\)s/g, userId);
    const projectPlaceholder = /[$%]\((project|tenant)_id\)s/g;
    if (endpoint.enabled === false || (!projectId && projectPlaceholder.test(url))) return [];
    return [{ ...endpoint, url: url.replace(projectPlaceholder, projectId ?? '') }];
  });
  return [...documents.table<Doc>('identity/services').values()]
    .filter(({ enabled }) => enabled !== false)
    .map(({ id, type, name }) => ({
      id,
      type,
      name,
      endpoints: endpoints
        .filter(({ service_id }: Wire) => service_id === id)
        .map(({ service_id: _, enabled: __, ...endpoint }: Wire) => ({ ...endpoint, region: endpoint.region_id })),
    }))
    .filter((service) => associatedEndpoints.length === 0 || service.endpoints.length > 0);
}
