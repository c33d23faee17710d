import express from 'express';
import { rateLimit } from 'express-rate-limit';

export const app = express();
const limited = rateLimit({
  windowMs: 7 * 24 * 3_600_000,
  limit: 2,
  keyGenerator: (req) => req.headers['x-account'],
  skipFailedRequests: true,
  standardHeaders: 'draft-8',
  legacyHeaders: false,
});
app.post('/invoices', limited, (req, res) => res.sendStatus(req.query.invalid ? 400 : 201));
app.delete('/invoices/:id', (_req, res) => res.sendStatus(204));
