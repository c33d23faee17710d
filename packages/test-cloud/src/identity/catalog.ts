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

export const REGION = 'RegionOne';
const INTERFACES = ['public', 'internal', 'admin'] as const;

/** Stands for the cloud's URL in stored endpoints, because the URL is known only during a request. */
const CLOUD_URL = '{cloud}';

/** Creates the initial services, endpoints and region. */
export function seedCatalog(documents: Documents): void {
  documents.table<Doc>('identity/regions').set(REGION, { id: REGION, description: '', parent_region_id: null });
  const endpoints = documents.table<Doc>('identity/endpoints');
  for (const { type, name, path } of SERVICES) {
    const service = stableId('endpoint', `${type}/service`);
    documents.table<Doc>('identity/services').set(service, { id: service, type, name, enabled: true, description: '' });
    for (const interfaceName of INTERFACES) {
      const id = stableId('endpoint', `${type}/${interfaceName}`);
      const location = { region: REGION, region_id: REGION, url: `${CLOUD_URL}${path}` };
      endpoints.set(id, { id, interface: interfaceName, service_id: service, enabled: true, ...location });
    }
  }
}

/** Returns the URL of an endpoint, with the cloud's URL in place of the placeholder. */
export function endpointUrl(url: unknown, cloudUrl: string): string {
  return String(url).replace(CLOUD_URL, cloudUrl);
}

/** Returns the wire format of an endpoint. */
export const showEndpoint = (endpoint: Doc, cloudUrl: string): Wire => ({
  ...endpoint,
  url: endpointUrl(endpoint.url, cloudUrl),
});

/** The tables that associate projects with endpoints (key `project/endpoint`) and with groups (key `group/project`). */
export const endpointPairs = (documents: Documents) =>
  documents.table<{ project: string; endpoint: string }>('identity/endpoint-filter');
export const groupPairs = (documents: Documents) =>
  documents.table<{ project: string; group: string }>('identity/endpoint-group-projects');

/** Returns the endpoints that match the filters of an endpoint group. */
export const endpointsMatching = (documents: Documents, filters: unknown): readonly Doc[] =>
  [...documents.table<Doc>('identity/endpoints').values()].filter((endpoint) =>
    Object.entries(filters as Wire).every(([key, value]) => endpoint[key] === value),
  );

/** Returns the endpoints that are associated with a project, either directly or through an endpoint group. */
export function endpointsOfProject(documents: Documents, id: string): readonly Doc[] {
  const endpoints = documents.table<Doc>('identity/endpoints');
  const groups = documents.table<Doc>('identity/endpoint_groups');
  const own = [...endpointPairs(documents).values()].filter(({ project }) => project === id);
  const grouped = [...groupPairs(documents).values()].filter(({ project }) => project === id);
  const found = [
    ...own.flatMap(({ endpoint }) => endpoints.get(endpoint) ?? []),
    ...grouped.flatMap(({ group }) => {
      const filters = groups.get(group)?.filters;
      return filters ? endpointsMatching(documents, filters) : [];
    }),
  ];
  return [...new Set(found)];
}

/** The user and project for which a catalog is generated. */
interface CatalogScope {
  readonly userId: string;
  readonly projectId?: string;
}

/**
 * Returns the service catalog for a user and project, whose IDs the URLs contain. Omits disabled endpoints and, without
 * a project, endpoints whose URL requires a project. If a project has associated endpoints, only these are returned.
 */
export function catalogFor(documents: Documents, cloudUrl: string, { userId, projectId }: CatalogScope) {
  const associated = projectId ? endpointsOfProject(documents, projectId) : [];
  const candidates = associated.length > 0 ? associated : [...documents.table<Doc>('identity/endpoints').values()];
  const endpoints = candidates.flatMap((endpoint) => {
    const url = endpointUrl(endpoint.url, cloudUrl).replace(/[$%]\(user_id\)s/g, userId);
    const needsProject = /[$%]\((project|tenant)_id\)s/g;
    if (endpoint.enabled === false || (!projectId && needsProject.test(url))) return [];
    return [{ ...endpoint, url: url.replace(needsProject, projectId ?? '') }];
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
    .filter((service) => associated.length === 0 || service.endpoints.length > 0);
}
