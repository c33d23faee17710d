import { type NextFunction, type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { readJson } from '../service/read-json.js';
import { ServiceError } from '../service/service-error.js';
import type { CloudState, TestCloud } from '../test-cloud.js';
import { HttpRuleBody, MachineRuleBody } from './rule-bodies.js';

/** What of a cloud can be controlled from outside. */
export type Controlled = Pick<
  TestCloud,
  'token' | 'clock' | 'rules' | 'requests' | 'unserved' | 'restartHost' | 'idle' | 'reset' | 'save' | 'restore'
>;

interface Handle {
  remove(): void;
  release?(): void;
  readonly calls: number;
}

const RuleBody = z.union([z.strictObject({ machine: MachineRuleBody }), z.strictObject({ http: HttpRuleBody })]);
const ClockBody = z.strictObject({
  advance: z.union([z.string(), z.number()]).optional(),
  freeze: z.boolean().optional(),
});
const TokenBody = z.strictObject({
  user: z.string().optional(),
  project: z.string().optional(),
  roles: z.array(z.string()).optional(),
});

function checked<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  throw new ServiceError(400, z.prettifyError(result.error));
}

/** The cloud's remote control, as JSON over HTTP, for tests that are written in another language. */
export function controlRouter(cloud: Controlled): Router {
  const handles = new Map<string, { readonly body: unknown; readonly handle: Handle }>();
  const states = new Map<string, CloudState>();
  let lastRule = 0;

  function ruleOf(req: Request) {
    const found = handles.get(String(req.params.id));
    if (!found) throw new ServiceError(404, `There is no rule ${req.params.id}.`);
    return found;
  }
  const shown = (id: string) => ({ id, calls: handles.get(id)!.handle.calls, ...(handles.get(id)!.body as object) });
  function forgetRules(): void {
    cloud.rules.clear();
    handles.clear();
  }

  const router = Router();
  router.use(readJson(() => true));

  router.post('/rules', (req, res) => {
    const rule = checked(RuleBody, req.body);
    const handle = 'http' in rule ? cloud.rules.http(rule.http) : cloud.rules.machine(rule.machine);
    const id = String(++lastRule);
    handles.set(id, { body: req.body, handle });
    res.status(201).json(shown(id));
  });
  router.get('/rules', (_req, res) => {
    res.json({ rules: [...handles.keys()].map(shown) });
  });
  router.get('/rules/:id', (req, res) => {
    ruleOf(req);
    res.json(shown(req.params.id));
  });
  router.post('/rules/:id/release', (req, res) => {
    ruleOf(req).handle.release?.();
    res.json(shown(req.params.id));
  });
  router.delete('/rules/:id', (req, res) => {
    ruleOf(req).handle.remove();
    handles.delete(req.params.id);
    res.status(204).end();
  });
  router.delete('/rules', (_req, res) => {
    forgetRules();
    res.status(204).end();
  });

  router.get('/requests', (req, res) => {
    const { service, method, url, status } = req.query as Record<string, string | undefined>;
    res.json({ requests: cloud.requests({ service, method, url, status: status ? Number(status) : undefined }) });
  });
  router.get('/unserved', (_req, res) => {
    res.json({ unserved: cloud.unserved() });
  });

  router.get('/clock', (_req, res) => {
    res.json({ now: new Date(cloud.clock.now()).toISOString(), frozen: cloud.clock.frozen });
  });
  router.post('/clock', async (req, res) => {
    const { advance, freeze } = checked(ClockBody, req.body);
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
    const { user, project, roles } = checked(TokenBody, req.body);
    res.status(201).json({ token: cloud.token(user, project, roles) });
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
    handles.clear();
    await cloud.reset();
    res.status(204).end();
  });
  router.put('/states/:name', async (req, res) => {
    states.set(req.params.name, await cloud.save());
    res.status(204).end();
  });
  router.post('/states/:name/restore', async (req, res) => {
    const state = states.get(req.params.name);
    if (!state) throw new ServiceError(404, `There is no state ${req.params.name}.`);
    handles.clear();
    await cloud.restore(state);
    res.status(204).end();
  });
  router.delete('/states/:name', (req, res) => {
    states.delete(req.params.name);
    res.status(204).end();
  });

  router.use((req: Request) => {
    throw new ServiceError(404, `/_control has no ${req.method} ${req.path}`);
  });
  router.use((error: Error & { status?: number }, _req: Request, res: Response, _next: NextFunction) => {
    res.status(error.status ?? 500).json({ error: { code: error.status ?? 500, message: error.message } });
  });
  return router;
}
