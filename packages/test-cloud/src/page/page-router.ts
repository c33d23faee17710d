import { type Request, type Response, Router } from 'express';
import type { CloudAppOptions } from '../front/cloud-app.js';
import { PAGE } from './page-html.js';
import { SCRIPT } from './page-script.js';
import { pageState } from './page-state.js';
import { STYLE } from './page-style.js';

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** The page on `/`, and what it is made of. */
export function pageRouter(options: Pick<CloudAppOptions, 'world' | 'journal' | 'clock' | 'unserved'>): Router {
  const router = Router();
  const file = (path: string, type: string, text: string) =>
    router.get(path, (_req: Request, res: Response) => {
      res.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
      res.type(type).send(text);
    });
  file('/', 'html', PAGE);
  file('/_page/page.css', 'css', STYLE);
  file('/_page/page.js', 'js', SCRIPT);
  router.get('/_page/state', async (_req: Request, res: Response) => {
    res.set('Cache-Control', 'no-store').json(await pageState(options));
  });
  router.get('/favicon.ico', (_req: Request, res: Response) => {
    res.status(204).end();
  });
  return router;
}
