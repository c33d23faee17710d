import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { static as files, Router } from 'express';

/** The Content-Security-Policy of console pages. It allows inline styles because noVNC and xterm.js set them. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/** Returns the HTML of a console page, whose content the script creates. */
const renderPage = (script: string, style: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${style}<style>
  html, body { margin: 0; height: 100%; background: #222; color: #eee; font: 14px system-ui, sans-serif; }
  body { display: flex; flex-direction: column; }
  #state { margin: 0; padding: 0.4em 1em; }
  #console { flex: 1; min-height: 0; overflow: auto; }
</style>
<p id="state" role="status">Connecting</p>
<main id="console"></main>
<script type="module" src="${script}"></script>
</html>
`;

const CLOSE_MESSAGES = {
  clean: 'The console was closed.',
  failed: 'The console cannot be reached: the URL may have expired.',
};

const SCREEN_SCRIPT = `import RFB from './novnc/core/rfb.js';
const state = document.getElementById('state');
const path = new URLSearchParams(location.search).get('path') ?? '';
const address = new URL(path, location.href);
address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
const rfb = new RFB(document.getElementById('console'), address.href);
rfb.scaleViewport = true;
rfb.addEventListener('connect', () => { state.textContent = 'Connected'; rfb.focus(); });
rfb.addEventListener('disconnect', ({ detail }) => {
  state.textContent = detail.clean ? '${CLOSE_MESSAGES.clean}' : '${CLOSE_MESSAGES.failed}';
});
`;

const SERIAL_SCRIPT = `import { Terminal } from './xterm/lib/xterm.mjs';
const state = document.getElementById('state');
const address = new URL('./' + location.search, location.href);
address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
const terminal = new Terminal({ cursorBlink: true, fontSize: 13, screenReaderMode: true, scrollback: 5000 });
terminal.open(document.getElementById('console'));
const socket = new WebSocket(address, ['binary']);
socket.binaryType = 'arraybuffer';
const encoder = new TextEncoder();
let connected = false;
terminal.onData((text) => { if (socket.readyState === WebSocket.OPEN) socket.send(encoder.encode(text)); });
socket.addEventListener('message', ({ data }) => terminal.write(new Uint8Array(data)));
socket.addEventListener('open', () => { connected = true; state.textContent = 'Connected'; terminal.focus(); });
socket.addEventListener('close', () => { state.textContent = connected ? '${CLOSE_MESSAGES.clean}' : '${CLOSE_MESSAGES.failed}'; });
`;

const XTERM_STYLE = '<link rel="stylesheet" href="xterm/css/xterm.css">\n';

/** Returns the folder of the noVNC sources. */
function novncFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('@novnc/novnc')));
}

/** Returns the folder of the xterm.js package. */
function xtermFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('@xterm/xterm')));
}

/**
 * Serves two console pages: a guest's screen, which console URLs of type `novnc` open, and a terminal for its serial
 * line at `serial.html?token=...`.
 */
export function createConsoleRouter(): Router {
  const router = Router();
  router.use((_req, res, next) => {
    // The URL contains the token: it must not be sent as a referrer or cached.
    res.set({
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
    next();
  });
  router.get('/vnc_lite.html', (_req, res) => void res.type('html').send(renderPage('screen.js', '')));
  router.get('/screen.js', (_req, res) => void res.type('text/javascript').send(SCREEN_SCRIPT));
  router.get('/serial.html', (_req, res) => void res.type('html').send(renderPage('serial.js', XTERM_STYLE)));
  router.get('/serial.js', (_req, res) => void res.type('text/javascript').send(SERIAL_SCRIPT));
  for (const folder of ['core', 'vendor']) router.use(`/novnc/${folder}`, files(join(novncFolder(), folder)));
  for (const folder of ['lib', 'css']) router.use(`/xterm/${folder}`, files(join(xtermFolder(), folder)));
  return router;
}
