import type { Doc, Documents } from '../service/documents.js';
import type { Wire } from '../service/wire.js';
import { stableId } from './new-id.js';

/** The services of the cloud, all at one address. */
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

/** A placeholder for the URL of the cloud, which is known only in a request. */
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

/** Returns the URL of an endpoint for a client. */
export function endpointUrl(url: unknown, cloudUrl: string): string {
  return String(url).replace(CLOUD_URL, cloudUrl);
}

/** Returns an endpoint as clients see it. */
export const showEndpoint = (endpoint: Doc, cloudUrl: string): Wire => ({
  ...endpoint,
  url: endpointUrl(endpoint.url, cloudUrl),
});

/** The associations of endpoints with projects, with the key `project/endpoint`, and of endpoint groups with projects. */
export const endpointPairs = (documents: Documents) =>
  documents.table<{ project: string; endpoint: string }>('identity/endpoint-filter');
export const groupPairs = (documents: Documents) =>
  documents.table<{ project: string; group: string }>('identity/endpoint-group-projects');

/** Returns the endpoints with the properties that a group requires. */
export const endpointsMatching = (documents: Documents, filters: unknown): readonly Doc[] =>
  [...documents.table<Doc>('identity/endpoints').values()].filter((endpoint) =>
    Object.entries(filters as Wire).every(([key, value]) => endpoint[key] === value),
  );

/** Returns the endpoints that are associated with a project: by themselves or by groups. */
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

/** The scope of a catalog. */
interface CatalogScope {
  readonly userId: string;
  readonly projectId?: string;
}

/**
 * Returns the catalog of a token: enabled endpoints with URLs for its user and project. Without a project, endpoints
 * whose URL contains one are missing. A project with associated endpoints has only these.
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
