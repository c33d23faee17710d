import type { ExplorerOptions } from './options.js';

/** Directives for all pages. They allow scripts, styles and images only from the site itself. */
const BASE_DIRECTIVES = {
  'default-src': "'none'",
  'style-src': "'self'",
  'script-src': "'self'",
  'img-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
} as const;

/**
 * Returns the pages' `Content-Security-Policy`. It allows requests only to the server of the pages, to the API, and to
 * the identity service.
 */
export function contentPolicy({ server = '', authentication }: ExplorerOptions): string {
  const urls = [server, authentication?.identityUrl ?? ''];
  const origins = urls.flatMap((url) => /^https?:\/\/[^/]+/.exec(url)?.[0] ?? []);
  const directives = { ...BASE_DIRECTIVES, 'connect-src': ["'self'", ...origins].join(' ') };
  return Object.entries(directives)
    .map((directive) => directive.join(' '))
    .join('; ');
}
