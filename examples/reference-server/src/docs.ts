import { MIN_VERSION, operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import { explorer } from '@apistrata/explorer';
import type { Express } from 'express';
import { AUTHENTICATION_HELP, callerKindOf } from './callers.js';
import type { Options } from './options.js';

/** Example tokens for `noauth`. */
const EXAMPLE_TOKENS = [
  { label: 'ada, a member of the project demo', token: 'ada:demo' },
  { label: 'admin, an administrator', token: 'admin' },
];

/** Mounts the explorer on `/docs`, unless it is disabled. */
export function mountDocs(app: Express, options: Options): void {
  if (options['no-docs']) return;
  const explorerPages = explorer({
    operations,
    min: MIN_VERSION,
    max: options['max-version'],
    server: '/v2.1',
    authentication: { text: AUTHENTICATION_HELP[callerKindOf(options)] },
    ...computeApiReference,
    ...(callerKindOf(options) === 'noauth' && { tokens: EXAMPLE_TOKENS }),
  });
  app.use('/docs', explorerPages);
}
