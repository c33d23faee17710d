import { between, byVersion, discovery, microversion, since, until } from '@apistrata/microversion';
import express from 'express';

const lists = [{ id: 1, name: 'groceries', color: 'green', owner: 'ada' }];

const docs = discovery({
  versions: [{ id: 'v1', status: 'CURRENT', min: '1.1', max: '1.12', updated: '2026-01-31T00:00:00Z' }],
});

export const app = express();
app.get('/', docs.list);

const v1 = express.Router();
v1.use(microversion({ service: 'todo', min: '1.1', max: '1.12' }));
v1.get('/', docs.document('v1'));

// 1.5 added a color to lists, 1.10 wrapped them.
v1.get(
  '/lists',
  byVersion([
    until('1.4', (_req, res) => void res.json(lists.map(({ id, name }) => ({ id, name })))),
    between('1.5', '1.9', (_req, res) => void res.json(lists.map(({ id, name, color }) => ({ id, name, color })))),
    since('1.10', (req, res) => void res.json({ version: req.microversion, lists })),
  ]),
);

// 1.12 removed the export: 404 since then.
v1.get('/export', byVersion(until('1.11', (_req, res) => void res.type('csv').send('id,name\n1,groceries\n'))));

export const server = app.use('/v1', v1).listen(Number(process.env.PORT ?? 3000));
