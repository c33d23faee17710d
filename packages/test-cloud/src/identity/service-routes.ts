import { filtered } from '../service/listing.js';
import { get, openGet, Reply, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { endpointsOf, REGION, SERVICES } from './catalog.js';
import { listOf } from './collection.js';
import { stableEndpointId } from './endpoint-id.js';

const MEDIA_TYPES = [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }];

function version(base: string) {
  return {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: `${base}/v3/` }],
    'media-types': MEDIA_TYPES,
  };
}

const region = { id: REGION, description: '', parent_region_id: null };

/** Versions, services, endpoints and regions: what the cloud consists of. */
export function serviceRoutes(): readonly Route[] {
  const services = SERVICES.map(({ type, name }) => ({
    id: stableEndpointId(type, 'service'),
    type,
    name,
    enabled: true,
    description: '',
  }));
  const endpoints = (cloudUrl: string) =>
    SERVICES.flatMap((service) =>
      endpointsOf(service, cloudUrl, undefined).map((endpoint) => ({
        ...endpoint,
        service_id: stableEndpointId(service.type, 'service'),
        enabled: true,
      })),
    );
  function one(items: readonly { readonly id: string }[], id: string) {
    const found = items.find((item) => item.id === id);
    if (!found) throw notFound(`Could not find ${id}.`);
    return found;
  }

  return [
    openGet('/', ({ base }) => new Reply(300, { versions: { values: [version(base)] } })),
    openGet('/v3', ({ base }) => ({ version: version(base) })),
    get('/v3/services', (call) => listOf('services', call, filtered(services, call.query, ['name', 'type']))),
    get('/v3/services/:id', (call) => ({ service: one(services, call.param('id')) })),
    get('/v3/endpoints', (call) =>
      listOf(
        'endpoints',
        call,
        filtered(endpoints(call.cloudBase), call.query, ['interface', 'service_id', 'region', 'region_id']),
      ),
    ),
    get('/v3/endpoints/:id', (call) => ({ endpoint: one(endpoints(call.cloudBase), call.param('id')) })),
    get('/v3/regions', (call) => listOf('regions', call, [region])),
    get('/v3/regions/:id', (call) => ({ region: one([region], call.param('id')) })),
  ];
}
