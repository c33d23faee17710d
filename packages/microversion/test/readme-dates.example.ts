import { before, byVersion, since, versioning } from '@apistrata/microversion';
import express, { type Request, type Response } from 'express';

export const app = express();
app.use(versioning({ versions: ['2025-03-01', '2026-11-22'] }));

app.get(
  '/lists',
  byVersion([
    before('2026-11-22', (_req: Request, res: Response) => void res.json(['groceries'])),
    since('2026-11-22', (_req: Request, res: Response) => void res.json({ lists: [{ name: 'groceries' }] })),
  ]),
);

export const server = app.listen(Number(process.env.PORT ?? 3000));
