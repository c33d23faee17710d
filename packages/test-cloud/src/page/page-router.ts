import { MAX_VERSION } from '@apistrata/compute-router';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { environment, formatCloudsYaml, SETTINGS_FORMATS } from '../environment.js';
import type { CloudAppOptions } from '../gateway/cloud-app-options.js';
import { parseJournalQuery } from '../gateway/journal-query.js';
import { DEMO_PASSWORD } from '../identity/demo-directory.js';
import { toHar } from '../recording/har.js';
import { jsonError } from '../service/json-error.js';
import { pageState } from './page-state.js';
import { requestDetail } from './request-detail.js';

const MAX_SHOWN_REQUESTS = 300;

type PageOptions = Pick<
  CloudAppOptions,
  'content' | 'directory' | 'journal' | 'clock' | 'unhandled' | 'rules' | 'control' | 'maxVersion'
>;

const addressOf = (req: Request) => `${req.protocol}://${req.headers.host ?? 'localhost'}`;

/** Returns the router that serves the page at `/` and the data for it. */
export function pageRouter(options: PageOptions): Router {
  const { journal, content, directory, control } = options;
  const router = Router();
  let issued = '';
  const createToken = () => {
    if (!directory.token(issued)) issued = directory.issueLastingToken('admin', 'demo', ['admin']);
    return issued;
  };
  const sendText = (res: Response, policy: string, type: string, text: string) => {
    res.set({ 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
    res.type(type).send(text);
  };
  // Few tests open the page, so these modules are loaded on the first request.
  const importPageFiles = () => import('./page-files.js');
  router.get('/', async (_req: Request, res: Response) => {
    const [{ pagePolicy }, { testCloudPage }] = await Promise.all([importPageFiles(), import('./page-html.js')]);
    sendText(res, pagePolicy(), 'html', testCloudPage(options.maxVersion ?? MAX_VERSION));
  });
  router.get('/favicon.ico', (_req: Request, res: Response) => {
    res.status(204).end();
  });

  // The page's own requests are neither in the journal nor subject to rules.
  router.use('/_page/compute', (req: Request, res: Response) => content().compute(req, res));
  router.use('/_page', (_req: Request, res: Response, next: NextFunction) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/_page/state', async (_req: Request, res: Response) => {
    res.json({ ...pageState(options), control: control !== undefined, token: createToken() });
  });
  router.get('/_page/clients', (req: Request, res: Response) => {
    const authUrl = `${addressOf(req)}/identity/v3`;
    res.json({
      env: SETTINGS_FORMATS.env(environment(authUrl, DEMO_PASSWORD)),
      cloudsYaml: formatCloudsYaml(authUrl, DEMO_PASSWORD),
    });
  });
  router.get('/_page/requests', (req: Request, res: Response) => {
    res.json({ requests: journal.latest(MAX_SHOWN_REQUESTS, parseJournalQuery(req.query)) });
  });
  router.get('/_page/requests/:number', async (req: Request, res: Response, next: NextFunction) => {
    const entry = journal.get(Number(req.params.number));
    if (!entry) return next();
    res.json(await requestDetail(options, entry, addressOf(req)));
  });
  router.get('/_page/journal.har', (req: Request, res: Response) => {
    // `res.attachment()` would require an additional package.
    res.set({
      'Content-Disposition': 'attachment; filename=test-cloud.har',
      'Content-Type': 'application/octet-stream',
    });
    res.json(toHar(journal.list(parseJournalQuery(req.query)), addressOf(req)));
  });
  router.get('/_page/:name', async (req: Request, res: Response, next: NextFunction) => {
    const { pageFile, pagePolicy } = await importPageFiles();
    const file = await pageFile(String(req.params.name));
    if (file) sendText(res, pagePolicy(), file.type, file.text);
    else next();
  });
  router.use('/_page', (req: Request, res: Response) => {
    res.status(404).json({ error: { code: 404, message: `The page has no ${req.method} ${req.path}` } });
  });
  router.use('/_page', jsonError);
  return router;
}
