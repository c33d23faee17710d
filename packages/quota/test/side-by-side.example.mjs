import { enforceQuota, memoryStore, projectQuotas, usageHandler } from '@apistrata/quota';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';

export const app = express();
const account = (req) => String(req.headers['x-account']);

// express-rate-limit: requests per minute of each address, which protects the server.
app.use(rateLimit({ windowMs: 60_000, limit: 20, standardHeaders: 'draft-8', legacyHeaders: false }));

// rate-limiter-flexible: points per hour of each account, because an export costs more than other requests.
const points = new RateLimiterMemory({ points: 10, duration: 3_600 });
const spend = (req, res, next) =>
  points.consume(account(req), 5).then(
    () => next(),
    ({ msBeforeNext }) => res.set('Retry-After', Math.ceil(msBeforeNext / 1_000)).sendStatus(429),
  );
app.post('/exports', spend, (_req, res) => res.sendStatus(202));

// @apistrata/quota: invoices that exist in each account; a deleted invoice makes room for the next one.
const quota = projectQuotas({ store: memoryStore(), defaults: { invoices: 2 } });
const counted = enforceQuota({ quota, kind: 'invoices', project: account });
app.post('/invoices', counted, (req, res) => res.sendStatus(req.query.invalid ? 400 : 201));
app.delete('/invoices/:id', counted, (_req, res) => res.sendStatus(204));
app.get('/usage', usageHandler({ quota, project: account }));
