import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { static as files, Router } from 'express';

/** Nothing but what this page itself needs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  html, body { margin: 0; height: 100%; background: #222; color: #eee; font: 14px system-ui, sans-serif; }
  body { display: flex; flex-direction: column; }
  #state { margin: 0; padding: 0.4em 1em; }
  #screen { flex: 1; min-height: 0; }
</style>
<p id="state" role="status">Connecting</p>
<div id="screen"></div>
<script type="module" src="screen.js"></script>
</html>
`;

const SCRIPT = `import RFB from './novnc/core/rfb.js';
const state = document.getElementById('state');
const path = new URLSearchParams(location.search).get('path') ?? '';
const address = new URL(path, location.href);
address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
const rfb = new RFB(document.getElementById('screen'), address.href);
rfb.scaleViewport = true;
rfb.addEventListener('connect', () => { state.textContent = 'Connected'; rfb.focus(); });
rfb.addEventListener('disconnect', ({ detail }) => {
  state.textContent = detail.clean ? 'The console has ended.' : 'The console cannot be reached: the address may have expired.';
});
`;

/** Where the sources of noVNC are. */
function novncFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('@novnc/novnc')));
}

/** The page with a guest's screen, which addresses of type novnc lead to. */
export function screenPage(): Router {
  const router = Router();
  router.use((_req, res, next) => {
    // The address has the token in it: it goes to nobody, and stays nowhere.
    res.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
    next();
  });
  router.get('/vnc_lite.html', (_req, res) => void res.type('html').send(PAGE));
  router.get('/screen.js', (_req, res) => void res.type('text/javascript').send(SCRIPT));
  for (const folder of ['core', 'vendor']) router.use(`/novnc/${folder}`, files(join(novncFolder(), folder)));
  return router;
}
