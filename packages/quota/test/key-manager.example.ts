import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
import express from 'express';

const quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 2 } });
const secrets = enforceQuota({ quota, kind: 'secrets', project: (req) => String(req.headers['x-project-id']) });

export const app = express();
app.use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
app.post('/v1/secrets', secrets, (_req, res) => void res.status(201).json({}));
app.delete('/v1/secrets/:id', secrets, (_req, res) => void res.status(204).end());
