import type { RequestHandler } from 'express';
import type { Options } from './options.js';

/** What a person may do next, as commands. */
export function nextSteps(url: string, { auth }: Pick<Options, 'auth'>): readonly string[] {
  if (auth === 'noauth') return [`curl -H 'X-Auth-Token: ada:demo' ${url}/v2.1/flavors`];
  const token = auth === 'tokens' ? 'A-TOKEN-OF-YOUR-FILE' : '$(openstack token issue -f value -c id)';
  return [`curl -H "X-Auth-Token: ${token}" ${url}/v2.1/flavors`];
}

const CALLERS: Readonly<Record<Options['auth'], string>> = {
  noauth:
    'The token says who you are: <code>USER:PROJECT[:ROLE,ROLE]</code>; user <code>admin</code> is an administrator.',
  tokens: 'Tokens are those of the file that this server was started with.',
  identity: 'Tokens come from the identity service that this server was started with.',
};

function page(url: string, options: Options): string {
  const steps = nextSteps(url, options).map((step) => `<pre>${escaped(step)}</pre>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Compute API</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
  pre { padding: .75rem; overflow-x: auto; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .4rem; }
</style>
<h1>Compute API</h1>
<p>It runs. Clients find it at <a href="${url}/v2.1/">${url}/v2.1/</a>.</p>
<p>${CALLERS[options.auth]}</p>
${steps.join('\n')}
<ul>
${options['no-docs'] ? '' : `  <li><a href="${url}/docs">What it can do</a>, version by version, and forms to try it</li>\n`}  <li><a href="${url}/openapi.json">Its description</a> (OpenAPI), at any version: <code>?version=2.53</code></li>
  <li><a href="${url}/healthcheck">Its health</a></li>
</ul>
`;
}

/** Where people open the API. */
const PATHS = new Set(['/', '/v2.1', '/v2.1/']);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/**
 * Tells whoever opens `/` or `/v2.1/` in a browser what to do next. Clients of the API, which never put HTML first, get the
 * version documents as ever.
 */
export function welcome(options: Options): RequestHandler {
  return function welcomePage(req, res, next) {
    const asked = req.headers.accept ?? '';
    // Browsers name text/html first; `*/*` and JSON are the API's.
    if (!PATHS.has(req.path) || req.method !== 'GET' || !/^\s*text\/html\b/i.test(asked)) return next();
    const host = req.headers.host ?? '';
    const safe = /^[\w.:[\]-]+$/.test(host) ? `${req.protocol}://${host}` : '';
    res.set({
      Vary: 'Accept',
      'Content-Security-Policy': "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'",
    });
    res.type('html').send(page(safe, options));
  };
}
