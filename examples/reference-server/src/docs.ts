import { MIN_VERSION, operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import { explorer } from '@apistrata/explorer';
import type { Express } from 'express';
import { CALLERS, callerKind } from './callers.js';
import type { Options } from './options.js';

/** Example tokens for `noauth`. */
const TOKENS = [
  { label: 'ada, a member of the project demo', token: 'ada:demo' },
  { label: 'admin, an administrator', token: 'admin' },
];

/** Mounts the explorer on `/docs`, unless it is disabled. */
export function mountDocs(app: Express, options: Options): void {
  if (options['no-docs']) return;
  const pages = explorer({
    operations,
    min: MIN_VERSION,
    max: options['max-version'],
    server: '/v2.1',
    authentication: { text: CALLERS[callerKind(options)] },
    ...computeApiReference,
    ...(callerKind(options) === 'noauth' && { tokens: TOKENS }),
  });
  app.use('/docs', pages);
}
