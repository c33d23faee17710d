import { get, openGet, Reply, type Route } from '../service/route.js';
import { forbidden, ServiceError } from '../service/service-error.js';

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

/** Operations of tokens with certificates, which the original also rejects. */
function retiredRoutes(): readonly Route[] {
  const message = 'This API is no longer available due to the removal of support for PKI tokens.';
  return [
    ...['ca', 'certificates'].map((name) =>
      openGet(`/v3/OS-SIMPLE-CERT/${name}`, () => {
        throw new ServiceError(410, message);
      }),
    ),
    openGet('/v3/auth/tokens/OS-PKI/revoked', () => {
      throw forbidden('You are not authorized to perform the requested action.');
    }),
  ];
}

/** Version documents, which clients read first. */
export function versionRoutes(): readonly Route[] {
  return [
    openGet('/', ({ base }) => new Reply(300, { versions: { values: [version(base)] } })),
    openGet('/v3', ({ base }) => ({ version: version(base) })),
    ...retiredRoutes(),
    get('/v3/limits/model', () => ({
      model: {
        name: 'flat',
        description: 'Limit enforcement and validation does not take project hierarchy into consideration.',
      },
    })),
  ];
}
