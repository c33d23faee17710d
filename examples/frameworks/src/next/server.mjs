import { createServer } from 'node:http';
import { healthcheck } from '@apistrata/healthcheck';
import { gracefulServer } from '@apistrata/healthcheck/server';
import { versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';
import next from 'next';

const app = next({ dev: process.env.NODE_ENV !== 'production' });
await app.prepare();
const handle = app.getRequestHandler();

const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = enforceQuota({ quota, kind: 'notes', project: (req) => String(req.headers['x-account']) });
const [ids, versions] = [requestId(), versioning({ versions: ['2025-03-01', '2026-11-22'] })];

function route(req, res) {
  // Route handlers cannot read Node's request object, so a header carries the negotiated version.
  req.headers['x-version'] = req.microversion.text;
  if (req.method !== 'POST' || req.url !== '/notes') return handle(req, res);
  return countNotes(req, res, (error) => (error ? res.writeHead(error.status ?? 500).end() : handle(req, res)));
}

const server = createServer((req, res) => ids(req, res, () => versions(req, res, () => route(req, res))));
gracefulServer(server, { health: healthcheck() });
server.listen(Number(process.env.PORT ?? 3000));
