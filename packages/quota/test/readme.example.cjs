const { enforceQuota, memoryStore, projectQuotas, usageHandler } = require('@apistrata/quota');
const express = require('express');

const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 2 } });
const counted = enforceQuota({ quota, kind: 'invoices', project: (req) => req.headers['x-account'] });

const app = express();
app.post('/invoices', counted, (_req, res) => res.status(201).json({}));
app.delete('/invoices/:id', counted, (_req, res) => res.status(204).end());
app.get('/usage', usageHandler({ quota, project: (req) => req.headers['x-account'] }));

module.exports = { app, server: app.listen(process.env.PORT ?? 3000) };
