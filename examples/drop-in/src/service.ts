import { type Healthcheck, healthcheck } from '@apistrata/healthcheck';
import { byVersion, microversion, since, until } from '@apistrata/microversion';
import { enforceQuota, type ProjectQuotas } from '@apistrata/quota';
import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
import { requestId } from '@apistrata/request-id';
import express, { type Express, type RequestHandler } from 'express';
import { type Secret, Secrets } from './secrets.js';

/** The application and its health endpoint, which the program needs for a graceful shutdown. */
export interface Service {
  readonly app: Express;
  readonly health: Healthcheck;
}

/** Creates an Express app with `/v1/secrets` and the middleware of healthcheck, microversion, quota and request-id. */
export function createService(quota: ProjectQuotas): Service {
  const secrets = new Secrets();
  // This demo trusts the identity headers of any client. Behind a proxy that authenticates clients, omit `confirmed`.
  const identity = headerIdentity({ confirmed: false });
  const projectOf = (req: express.Request): string => req.res?.locals.project;

  const storeCheck = {
    name: 'quota_store',
    check: async () => ({ state: 'available' as const, details: await describeStore(quota) }),
  };
  const health = healthcheck({ backends: [storeCheck] });

  const identify: RequestHandler = async (req, res, next) => {
    res.locals.project = (await identity(req))?.projectId;
    next();
  };
  const checkName: RequestHandler = (req, res, next) => {
    if (typeof req.body?.name === 'string' && req.body.name !== '') next();
    else res.status(400).json({ code: 400, title: 'Bad Request', description: 'A secret needs a name.' });
  };
  const countSecrets = enforceQuota({ quota, kind: 'secrets', project: projectOf });
  // Sends the secret. Version 1.1 added the creation time.
  const sendSecret = byVersion<RequestHandler>([
    until('1.0', (_req, res) => void res.json(omitCreated(res.locals.secret))),
    since('1.1', (_req, res) => void res.json(res.locals.secret)),
  ]);

  const app = express();
  app.use(health, requestId({ preset: 'openstack' }));
  app.use(projectQuotaRouter({ quota, identity }));

  const v1 = express.Router();
  v1.use(microversion({ service: 'key-manager', min: '1.0', max: '1.1', headerStyle: 'generic' }), identify);
  v1.get('/secrets', (req, res) => {
    res.json({ secrets: secrets.list(projectOf(req)).map(omitCreated) });
  });
  // The quota middleware comes last: a request that other middleware rejects must not consume quota.
  v1.post('/secrets', express.json(), checkName, countSecrets, (req, res, next) => {
    res.locals.secret = secrets.add(projectOf(req), req.body.name);
    res.status(201);
    sendSecret(req, res, next);
  });
  v1.get('/secrets/:id', (req, res, next) => {
    res.locals.secret = secrets.find(projectOf(req), req.params.id);
    if (res.locals.secret) sendSecret(req, res, next);
    else next();
  });
  v1.delete('/secrets/:id', countSecrets, (req, res, next) => {
    if (secrets.remove(projectOf(req), String(req.params.id))) res.status(204).end();
    else next();
  });
  app.use('/v1', v1);
  return { app, health };
}

async function describeStore(quota: ProjectQuotas): Promise<string> {
  const { total } = await quota.list({ limit: 0 });
  return `${total} projects have their own limits`;
}

function omitCreated({ id, name }: Secret) {
  return { id, name };
}
