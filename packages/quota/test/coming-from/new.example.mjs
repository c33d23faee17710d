import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import express from 'express';

export const app = express();
const limited = enforceQuota({
  quota: projectQuotas({ store: memoryStore(), defaults: { invoices: 2 } }),
  kind: 'invoices',
  project: (req) => req.headers['x-account'],
  status: 429,
});
app.post('/invoices', limited, (req, res) => res.sendStatus(req.query.invalid ? 400 : 201));
app.delete('/invoices/:id', limited, (_req, res) => res.sendStatus(204));
