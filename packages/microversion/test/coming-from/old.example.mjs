import express from 'express';
import versionRouter from 'express-version-route';

export const app = express();
app.use((req, _res, next) => {
  req.version = req.headers['x-api-version'];
  next();
});

const first = (_req, res) => res.json(['groceries']);
const second = (_req, res) => res.json({ lists: ['groceries'] });
const lists = new Map([
  ['1.x', first],
  ['>=2.0.0', second],
  ['default', first],
]);
app.get('/lists', versionRouter.route(lists));
