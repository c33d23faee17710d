import { type NextFunction, type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { parseJournalQuery } from '../gateway/journal-query.js';
import type { ListedRule, RuleBook } from '../gateway/rule-book.js';
import { jsonError } from '../service/json-error.js';
import { readJson } from '../service/read-json.js';
import { ServiceError } from '../service/service-error.js';
import type { CloudState, TestCloud } from '../test-cloud.js';
import { HttpRuleBody, MachineRuleBody } from './rule-bodies.js';
import { serializeRule } from './rule-json.js';

/** The methods of a cloud that the control API calls. */
export type ControllableCloud = Pick<
  TestCloud,
  'token' | 'envFor' | 'clock' | 'requests' | 'unhandled' | 'restartHost' | 'idle' | 'reset' | 'save' | 'restore'
>;

const MachineRule = z.strictObject({ machine: MachineRuleBody });
const HttpRequestRule = z.strictObject({ http: HttpRuleBody });
const ClockBody = z.strictObject({
  advance: z.union([z.string(), z.number()]).optional(),
  freeze: z.boolean().optional(),
});
const LoginBody = z.strictObject({ user: z.string().optional(), project: z.string().optional() });
const TokenBody = z.strictObject({
  user: z.string().optional(),
  project: z.string().optional(),
  roles: z.array(z.string()).optional(),
});

/** Rejects browser requests from other sites' pages, which could otherwise control a cloud on the same computer. */
function rejectOtherSites(req: Request, _res: Response, next: NextFunction): void {
  const { origin, host } = req.headers;
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host))
    throw new ServiceError(403, `Pages of ${origin} may not control this cloud.`);
  next();
}

function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const parseResult = schema.safeParse(body ?? {});
  if (parseResult.success) return parseResult.data;
  throw new ServiceError(400, z.prettifyError(parseResult.error));
}

/** Returns the router of the cloud's control API, which tests in other languages call with JSON over HTTP. */
export function controlRouter(cloud: ControllableCloud, rules: RuleBook): Router {
  const savedStates = new Map<string, CloudState>();

  function findRule(req: Request): ListedRule {
    const rule = rules.list().find(({ id }) => id === req.params.id);
    if (!rule) throw new ServiceError(404, `Unknown rule ${req.params.id}.`);
    return rule;
  }

  const router = Router();
  router.use(rejectOtherSites);
  router.use(readJson(() => true));

  router.post('/rules', (req, res) => {
    const { body } = req;
    // Validating against only one of the two schemas makes the error name the invalid field.
    const rule =
      body?.machine === undefined
        ? rules.http(parseBody(HttpRequestRule, body).http)
        : rules.machine(parseBody(MachineRule, body).machine);
    res.status(201).json(serializeRule(rule));
  });
  router.get('/rules', (_req, res) => {
    res.json({ rules: rules.list().map(serializeRule) });
  });
  router.get('/rules/:id', (req, res) => {
    res.json(serializeRule(findRule(req)));
  });
  router.post('/rules/:id/release', (req, res) => {
    const rule = findRule(req);
    if (rule.kind === 'machine') rule.handle.release();
    res.json(serializeRule(rule));
  });
  router.delete('/rules/:id', (req, res) => {
    findRule(req).handle.remove();
    res.status(204).end();
  });
  router.delete('/rules', (_req, res) => {
    rules.clear();
    res.status(204).end();
  });

  router.get('/requests', (req, res) => {
    res.json({ requests: cloud.requests(parseJournalQuery(req.query)) });
  });
  router.get('/unhandled', (_req, res) => {
    res.json({ unhandled: cloud.unhandled() });
  });

  router.get('/clock', (_req, res) => {
    res.json({ now: new Date(cloud.clock.now()).toISOString(), frozen: cloud.clock.frozen });
  });
  router.post('/clock', async (req, res) => {
    const { advance, freeze } = parseBody(ClockBody, req.body);
    if (freeze === true) cloud.clock.freeze();
    if (freeze === false) cloud.clock.run();
    if (advance !== undefined) {
      await cloud.clock.advance(advance).catch((error) => {
        throw new ServiceError(400, error.message);
      });
    }
    res.json({ now: new Date(cloud.clock.now()).toISOString(), frozen: cloud.clock.frozen });
  });

  router.post('/tokens', (req, res) => {
    const { user, project, roles } = parseBody(TokenBody, req.body);
    res.status(201).json({ token: cloud.token(user, project, roles) });
  });
  router.post('/logins', (req, res) => {
    res.status(201).json({ environment: cloud.envFor(parseBody(LoginBody, req.body)) });
  });
  router.post('/hosts/:name/restart', async (req, res) => {
    await cloud.restartHost(req.params.name);
    res.status(204).end();
  });
  router.post('/idle', async (_req, res) => {
    await cloud.idle();
    res.status(204).end();
  });
  router.post('/reset', async (_req, res) => {
    await cloud.reset();
    res.status(204).end();
  });
  router.put('/states/:name', async (req, res) => {
    savedStates.set(req.params.name, await cloud.save());
    res.status(204).end();
  });
  router.post('/states/:name/restore', async (req, res) => {
    const state = savedStates.get(req.params.name);
    if (!state) throw new ServiceError(404, `Unknown state ${req.params.name}.`);
    await cloud.restore(state);
    res.status(204).end();
  });
  router.delete('/states/:name', (req, res) => {
    savedStates.delete(req.params.name);
    res.status(204).end();
  });

  router.use((req: Request) => {
    throw new ServiceError(404, `/_control has no ${req.method} ${req.path}`);
  });
  router.use(jsonError);
  return router;
}
