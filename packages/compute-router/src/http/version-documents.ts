import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiVersion, type Discovery, discovery, type Negotiator, type Version } from '@apistrata/microversion';
import { urlPath } from './url-path.js';

const MEDIA_TYPE = 'application/vnd.openstack.compute+json';

function majorVersions(max: Version): readonly ApiVersion[] {
  return [
    {
      id: 'v2.0',
      path: '/v2/',
      status: 'SUPPORTED',
      updated: '2011-01-21T11:33:21Z',
      mediaTypes: [{ base: 'application/json', type: `${MEDIA_TYPE};version=2` }],
      describedBy: 'http://docs.openstack.org/',
    },
    {
      id: 'v2.1',
      status: 'CURRENT',
      min: '2.1',
      max,
      updated: '2013-07-23T11:33:21Z',
      mediaTypes: [{ base: 'application/json', type: `${MEDIA_TYPE};version=2.1` }],
      describedBy: 'http://docs.openstack.org/',
    },
  ];
}

/** Creates the documents for the API's two major versions, `v2.0` and `v2.1`. Only `v2.1` has microversions. */
export function computeDiscovery(max: Version, trustProxy: boolean | undefined): Discovery {
  return discovery({ versions: majorVersions(max), trustProxy });
}

export interface VersionDocumentsOptions {
  readonly discovery: Discovery;
  readonly negotiate: Negotiator;
}

/**
 * Creates the handler for the documents that clients can read without a token: the version list, each version's
 * document, and the list of choices for paths without a version.
 */
export function versionDocuments({ discovery, negotiate }: VersionDocumentsOptions) {
  const serveCurrentDocument = discovery.document('v2.1');
  const serveLegacyDocument = discovery.document('v2.0');

  /**
   * Sends the response if the request is for a version document. Returns false for other requests.
   *
   * @throws the errors that version negotiation throws
   */
  return function respondWithVersionDocument(req: IncomingMessage, res: ServerResponse): boolean {
    const path = urlPath(req);
    if (path === '/' || path === '') discovery.list(req, res);
    else if (path === '/v2.1' || path === '/v2.1/') {
      negotiate.apply(req, res);
      serveCurrentDocument(req, res);
    } else if (path === '/v2' || path === '/v2/') serveLegacyDocument(req, res);
    else if (!/^\/v2(\.1)?\//.test(path)) discovery.choices(req, res);
    else return false;
    return true;
  };
}
