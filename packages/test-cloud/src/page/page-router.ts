import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { cloudsYaml, environment, PRINTS } from '../environment.js';
import type { CloudAppOptions } from '../front/cloud-app.js';
import { journalQuery } from '../front/journal-query.js';
import { PASSWORD } from '../identity/directory.js';
import { harFile } from '../recording/har.js';
import { PAGE } from './page-html.js';
import { pageState } from './page-state.js';
import { STYLE } from './page-style.js';
import { requestDetail, shownAction } from './request-detail.js';

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What runs in the browser; modules beside this one. */
const SCRIPTS = ['page', 'elements', 'requests', 'servers', 'rules', 'clients', 'clock', 'server-data'];
const SHOWN_REQUESTS = 300;

type PageOptions = Pick<CloudAppOptions, 'world' | 'journal' | 'clock' | 'unserved' | 'rules' | 'control'>;

const addressOf = (req: Request) => `${req.protocol}://${req.headers.host ?? 'localhost'}`;

/** The page on `/`, and what it is made of. */
export function pageRouter(options: PageOptions): Router {
  const { journal, world, control } = options;
  const router = Router();
  const file = (path: string, type: string, read: () => string | Promise<string>) =>
    router.get(path, async (_req: Request, res: Response) => {
      res.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
      res.type(type).send(await read());
    });
  file('/', 'html', () => PAGE);
  file('/_page/page.css', 'css', () => STYLE);
  for (const name of SCRIPTS)
    file(`/_page/${name}.js`, 'js', () =>
      readFile(fileURLToPath(new URL(`./browser/${name}.js`, import.meta.url)), 'utf8'),
    );
  router.get('/favicon.ico', (_req: Request, res: Response) => {
    res.status(204).end();
  });

  router.use('/_page', (_req: Request, res: Response, next: NextFunction) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/_page/state', async (_req: Request, res: Response) => {
    res.json({ ...(await pageState(options)), control: control !== undefined });
  });
  router.get('/_page/clients', (req: Request, res: Response) => {
    const authUrl = `${addressOf(req)}/identity/v3`;
    res.json({ env: PRINTS.env(environment(authUrl, PASSWORD)), cloudsYaml: cloudsYaml(authUrl, PASSWORD) });
  });
  router.get('/_page/requests', (req: Request, res: Response) => {
    res.json({ requests: journal.latest(SHOWN_REQUESTS, journalQuery(req.query)) });
  });
  router.get('/_page/requests/:number', async (req: Request, res: Response, next: NextFunction) => {
    const entry = journal.get(Number(req.params.number));
    if (!entry) return next();
    res.json(await requestDetail(options, entry, addressOf(req)));
  });
  router.get('/_page/servers/:id', async (req: Request, res: Response) => {
    res.json({ actions: (await world().engine.instanceActions.list(String(req.params.id))).map(shownAction) });
  });
  router.get('/_page/journal.har', (req: Request, res: Response) => {
    res.attachment('test-cloud.har').json(harFile(journal.list(journalQuery(req.query)), addressOf(req)));
  });
  router.use('/_page', (req: Request, res: Response) => {
    res.status(404).json({ error: { code: 404, message: `The page has no ${req.method} ${req.path}` } });
  });
  return router;
}
