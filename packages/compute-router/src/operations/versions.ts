import { Rejection } from '@apistrata/compute-engine';
import { derive, described, object, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';

const versionDocs = resource({
  tag: 'versions',
  parameters: { id: 'ID of a major version, such as `v2.1`.' },
});

const versionDocument = object({
  id: described('ID of the major version.', z.string()),
  status: described(
    'Status of the major version: `CURRENT`, or `SUPPORTED` for a version that is provided for old clients.',
    z.enum(['CURRENT', 'SUPPORTED', 'DEPRECATED']),
  ),
  version: described('Maximum microversion. Empty if the major version does not have microversions.', z.string()),
  min_version: described('Minimum microversion. Empty if the major version does not have microversions.', z.string()),
  updated: described('Time of the last change to this record, in UTC.', z.string()),
  links: described(
    commonTexts.links,
    derive(
      object({
        rel: described(commonTexts.rel, z.string()),
        href: described(commonTexts.href, z.string()),
        type: described('Media type of the linked resource.', z.string().optional()),
      }),
      (item) => item.array(),
    ),
  ),
  'media-types': described(
    'Supported media types.',
    derive(
      object({
        base: described('Base media type.', z.string()),
        type: described('Media type that contains the name of the API.', z.string()),
      }),
      (item) => item.array(),
    ),
  ),
});

/**
 * The operation that returns the version document, which is also available at the root path of the version. Below
 * `/v2`, the id is ignored.
 */
export const versionOperations = [
  operation({
    ...versionDocs,
    name: 'showVersion',
    method: 'GET',
    path: '/versions/{id}',
    summary: 'Show a version of the API',
    description: 'Shows a major version of the API with its minimum and maximum microversion.',
    status: 200,
    errors: [404],
    query: query({}, { extra: 'ignore' }),
    reply: { version: described('A major version.', versionDocument) },
    run: ({ discovery, mount, params, req }) => {
      const id = mount === '/v2' ? 'v2.0' : params.id;
      const { versions } = discovery.listOf(req);
      if (!versions.some((version) => version.id === id))
        throw new Rejection('NOT_FOUND', `There is no version ${id}.`);
      return discovery.documentOf(req, id) as never;
    },
  }),
];
