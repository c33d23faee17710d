import { healthcheck } from '@apistrata/healthcheck';
import { versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';
import { createRequestHandler } from '@react-router/express';
import express from 'express';

const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
const countNotes = enforceQuota({ quota, kind: 'notes', project: (req) => String(req.headers['x-account']) });

const app = express();
app.use(requestId(), healthcheck(), versioning({ versions: ['2025-03-01', '2026-11-22'] }));
app.use(express.static('build/client'));
app.post('/notes', countNotes);
app.use((req, _res, next) => {
  // Loaders and actions cannot read Node's request object, so a header carries the negotiated version.
  req.headers['x-version'] = req.microversion.text;
  next();
});
app.use(createRequestHandler({ build: await import('./build/server/index.js') }));
app.listen(Number(process.env.PORT ?? 3000));
