import type { RequestHandler } from 'express';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2457c5"/><path d="M3 11h10M4.5 8h7M6 5h4" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>`;

/** Serves the icon that browsers request. Without it, the API would send the version document. */
export function favicon(): RequestHandler {
  return function sendIcon(_req, res) {
    res.set('Cache-Control', 'public, max-age=86400').type('image/svg+xml').send(ICON);
  };
}
