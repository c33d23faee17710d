import { stableEndpointId } from './endpoint-id.js';

interface CatalogService {
  readonly type: string;
  readonly name: string;
  readonly path: (projectId: string | undefined) => string;
}

/** The services of the cloud, all below one address. */
export const SERVICES: readonly CatalogService[] = [
  { type: 'identity', name: 'keystone', path: () => '/identity/v3' },
  { type: 'compute', name: 'nova', path: () => '/compute/v2.1' },
  { type: 'image', name: 'glance', path: () => '/image' },
  { type: 'network', name: 'neutron', path: () => '/network' },
  { type: 'volumev3', name: 'cinderv3', path: (project) => `/volume/v3${project ? `/${project}` : ''}` },
  { type: 'block-storage', name: 'cinder', path: (project) => `/volume/v3${project ? `/${project}` : ''}` },
  { type: 'placement', name: 'placement', path: () => '/placement' },
];

export const REGION = 'RegionOne';
const INTERFACES = ['public', 'internal', 'admin'] as const;

/** The endpoints of one service, as lists of endpoints show them. */
export function endpointsOf({ type, path }: CatalogService, cloudUrl: string, projectId: string | undefined) {
  return INTERFACES.map((name) => ({
    id: stableEndpointId(type, name),
    interface: name,
    region: REGION,
    region_id: REGION,
    url: `${cloudUrl}${path(projectId)}`,
  }));
}

/** The catalog of a token. */
export function catalogFor(cloudUrl: string, projectId: string | undefined) {
  return SERVICES.map((service) => ({
    id: stableEndpointId(service.type, 'service'),
    type: service.type,
    name: service.name,
    endpoints: endpointsOf(service, cloudUrl, projectId),
  }));
}
