import { enforceQuota, memoryStore, projectQuotas, usageHandler } from '@apistrata/quota';
import express from 'express';

const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 2 } });
const counted = enforceQuota({ quota, kind: 'invoices', project: (req) => String(req.headers['x-account']) });

export const app = express();
app.post('/invoices', counted, (_req, res) => void res.status(201).json({}));
app.delete('/invoices/:id', counted, (_req, res) => void res.status(204).end());
app.get('/usage', usageHandler({ quota, project: (req) => String(req.headers['x-account']) }));

export const server = app.listen(Number(process.env.PORT ?? 3000));
