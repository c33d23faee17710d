import { get, openGet, Reply, type Route } from '../service/route.js';
import { ServiceError } from '../service/service-error.js';

const REMOVED_API_MESSAGE = 'This API is no longer available due to the removal of support for PKI tokens.';
const MEDIA_TYPES = [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }];

function versionDocument(base: string) {
  return {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: `${base}/v3/` }],
    'media-types': MEDIA_TYPES,
  };
}

/** The paths, statuses and messages of operations that Keystone also rejects. */
const REJECTED_ROUTES = [
  ['OS-SIMPLE-CERT/ca', 410, REMOVED_API_MESSAGE],
  ['OS-SIMPLE-CERT/certificates', 410, REMOVED_API_MESSAGE],
  ['auth/tokens/OS-PKI/revoked', 403, 'You are not authorized to perform the requested action.'],
] as const;

/** Returns the routes for the version documents, which clients read first, and for the limit model. */
export function versionRoutes(): readonly Route[] {
  return [
    openGet('/', ({ base }) => new Reply(300, { versions: { values: [versionDocument(base)] } })),
    openGet('/v3', ({ base }) => ({ version: versionDocument(base) })),
    ...REJECTED_ROUTES.map(([path, status, message]) =>
      openGet(`/v3/${path}`, () => {
        throw new ServiceError(status, message);
      }),
    ),
    get('/v3/limits/model', () => ({
      model: {
        name: 'flat',
        description: 'Limit enforcement and validation does not take project hierarchy into consideration.',
      },
    })),
  ];
}
