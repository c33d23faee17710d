import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import express from 'express';
import session from 'express-session';
import { jwtVerify } from 'jose';

export const app = express();
const create = (_req, res) => res.status(201).end();

// Your login, which checks a password.
const users = { ada: { sub: 'ada', org: 'acme', plan: 'free' } };
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: false }));
app.post('/login/:user', (req, res) => {
  req.session.user = users[req.params.user];
  res.sendStatus(204);
});

// The user: the claims of a verified JWT, or the user of the session.
const key = new TextEncoder().encode(process.env.JWT_SECRET);
app.use(async (req, res, next) => {
  const [, token] = /^Bearer (.+)$/.exec(req.headers.authorization) ?? [];
  const verified = token && (await jwtVerify(token, key, { algorithms: ['HS256'] }).catch(() => ({})));
  req.auth = verified ? verified.payload : req.session.user;
  if (req.auth) next();
  else res.sendStatus(401);
});

// By user.
const store = memoryStore();
const quota = projectQuotas({ store, defaults: { drafts: 2, seats: 3 } });
app.post('/drafts', enforceQuota({ quota, kind: 'drafts', project: (req) => `user:${req.auth.sub}` }), create);

// By organization.
app.post('/seats', enforceQuota({ quota, kind: 'seats', project: (req) => `org:${req.auth.org}` }), create);

// Limits by plan: the same usage is compared with other limits.
const plans = { free: { reports: 1 }, pro: { reports: 3 } };
const byPlan = new Map(
  Object.entries(plans).map(([plan, defaults]) => [
    plan,
    enforceQuota({
      quota: projectQuotas({ store, defaults }),
      kind: 'reports',
      project: (req) => `user:${req.auth.sub}`,
    }),
  ]),
);
app.post('/reports', (req, res, next) => byPlan.get(req.auth.plan)(req, res, next), create);

// For one customer: its own limit, which replaces the default.
await quota.set('org:acme', { seats: 4 });

// A mail at 80% and 100%.
export const mails = [];
const watched = projectQuotas({
  store,
  defaults: { invoices: 5 },
  onThreshold: ({ project, kind, used, limit }) => mails.push(`${project} uses ${used} of ${limit} ${kind}`),
});
app.post('/invoices', enforceQuota({ quota: watched, kind: 'invoices', project: (req) => req.auth.sub }), create);
