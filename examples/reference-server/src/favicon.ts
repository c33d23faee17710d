import { uiAsset } from '@apistrata/ui';
import type { RequestHandler } from 'express';

/** Serves the icon that browsers request. Without this route, the API would respond with the version document. */
export function favicon(): RequestHandler {
  return function sendIcon(_req, res) {
    res.set('Cache-Control', 'public, max-age=86400').type('image/svg+xml').send(uiAsset('icon.svg')?.text);
  };
}
