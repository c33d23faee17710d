import { described, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { storableText } from '../schemas/storable-text.js';
import { absoluteLimits } from '../views/limits.js';

const limitsDocs = resource({
  tag: 'limits',
});

export const limitsOperations = [
  operation({
    ...limitsDocs,
    name: 'showLimits',
    method: 'GET',
    path: '/limits',
    summary: 'Show the limits and usage of a project',
    description: 'Shows the limits of a project and its current usage.',
    policy: 'os_compute_api:limits',
    status: 200,
    query: query(
      {
        tenant_id: described(
          'ID of the project. Administrators only. Default: the project of the caller.',
          one(storableText),
        ),
      },
      { extra: rejectedSince275 },
    ),
    reply: {
      limits: described('The limits.', {
        rate: described(
          'Always empty. The response header `RateLimit-Policy` contains rate limits, if any.',
          z.array(z.never()),
        ),
        absolute: described('Limits of the project and its current usage. -1 means unlimited.', absoluteLimits),
      }),
    },
    run: async (call) => {
      const { tenant_id } = call.query;
      if (tenant_id !== undefined) call.require('os_compute_api:limits:other_project');
      const scope = { projectId: tenant_id ?? call.caller.projectId };
      return { limits: { rate: [], absolute: await call.engine.quotas.overview(scope) } };
    },
  }),
];
