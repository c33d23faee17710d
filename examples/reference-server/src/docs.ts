import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  MIN_VERSION,
  operations,
} from '@apistrata/compute-router';
import { explorer } from '@apistrata/explorer';
import type { Express } from 'express';
import type { Options } from './options.js';

/** Tokens that `noauth` believes, for trying. */
const TOKENS = [
  { label: 'ada, a member of the project demo', token: 'ada:demo' },
  { label: 'admin, an administrator', token: 'admin' },
];

/** Mounts the explorer on `/docs`, unless the options say not to. */
export function mountDocs(app: Express, options: Options): void {
  if (options['no-docs']) return;
  const pages = explorer({
    operations,
    min: MIN_VERSION,
    max: options['max-version'],
    server: '/v2.1',
    description: computeApiDescription,
    history: computeApiHistory,
    commands: computeApiCommands,
    ...(options.auth === 'noauth' && { tokens: TOKENS }),
  });
  app.use('/docs', pages);
}
