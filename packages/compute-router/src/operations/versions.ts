import { Rejection } from '@apistrata/compute-engine';
import { described, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';

const versionDocs = resource({
  tag: 'versions',
  parameters: { id: 'ID of a major version, such as `v2.1`.' },
});

const versionDocument = z.strictObject({
  id: z.string().describe('ID of the major version.'),
  status: z
    .enum(['CURRENT', 'SUPPORTED', 'DEPRECATED'])
    .describe('Status of the major version: `CURRENT`, or `SUPPORTED` for a version kept for old clients.'),
  version: z.string().describe('Maximum microversion. Empty if the major version has no microversions.'),
  min_version: z.string().describe('Minimum microversion. Empty if the major version has no microversions.'),
  updated: z.string().describe('Time of the last change of this record, in UTC.'),
  links: z
    .array(
      z.strictObject({
        rel: z.string().describe(commonTexts.rel),
        href: z.string().describe(commonTexts.href),
        type: z.string().optional().describe('Media type of the linked resource.'),
      }),
    )
    .describe('Links to the item.'),
  'media-types': z
    .array(
      z.strictObject({
        base: z.string().describe('Base media type.'),
        type: z.string().describe('Media type with the name of the API.'),
      }),
    )
    .describe('Supported media types.'),
});

/** Returns the document that is also at the root of the version; below the older mount, for any id. */
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
