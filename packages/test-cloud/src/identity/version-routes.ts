import { get, openGet, Reply, type Route } from '../service/route.js';

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

/** Version documents, which clients read first. */
export function versionRoutes(): readonly Route[] {
  return [
    openGet('/', ({ base }) => new Reply(300, { versions: { values: [version(base)] } })),
    openGet('/v3', ({ base }) => ({ version: version(base) })),
    get('/v3/limits/model', () => ({
      model: {
        name: 'flat',
        description: 'Limit enforcement and validation does not take project hierarchy into consideration.',
      },
    })),
  ];
}
