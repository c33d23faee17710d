import { Rejection } from '@apistrata/compute-engine';
import { query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { versionDocs } from './versions.docs.js';

const versionDocument = z.strictObject({
  id: z.string(),
  status: z.enum(['CURRENT', 'SUPPORTED', 'DEPRECATED']),
  version: z.string(),
  min_version: z.string(),
  updated: z.string(),
  links: z.array(z.strictObject({ rel: z.string(), href: z.string(), type: z.string().optional() })),
  'media-types': z.array(z.strictObject({ base: z.string(), type: z.string() })),
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
    reply: { version: versionDocument },
    run: ({ discovery, mount, params, req }) => {
      const id = mount === '/v2' ? 'v2.0' : params.id;
      const { versions } = discovery.listOf(req);
      if (!versions.some((version) => version.id === id))
        throw new Rejection('NOT_FOUND', `There is no version ${id}.`);
      return discovery.documentOf(req, id) as never;
    },
  }),
];
