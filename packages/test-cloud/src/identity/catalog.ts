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

/** Returns the catalog of a token: enabled endpoints, with URLs for its project. */
export function catalogFor(documents: Documents, cloudUrl: string, projectId: string | undefined) {
  const endpoints = [...documents.table<Doc>('identity/endpoints').values()].filter(({ enabled }) => enabled !== false);
  const reachableUrl = (url: unknown) =>
    endpointUrl(url, cloudUrl).replace(/\/?[$%]\((project|tenant)_id\)s/, projectId ? `/${projectId}` : '');
  return [...documents.table<Doc>('identity/services').values()]
    .filter(({ enabled }) => enabled !== false)
    .map(({ id, type, name }) => ({
      id,
      type,
      name,
      endpoints: endpoints
        .filter(({ service_id }) => service_id === id)
        .map((endpoint) => ({
          id: endpoint.id,
          interface: endpoint.interface,
          region: endpoint.region_id,
          region_id: endpoint.region_id,
          url: reachableUrl(endpoint.url),
        })),
    }));
}
