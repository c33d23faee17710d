import { before, byVersion, header, since, versioning } from '@apistrata/microversion';
import express from 'express';

export const app = express();
app.use(versioning({ versions: ['1.0.0', '1.4.0', '2.0.0'], from: header('X-Api-Version') }));

const first = (_req, res) => res.json(['groceries']);
const second = (_req, res) => res.json({ lists: ['groceries'] });

app.get('/lists', byVersion([before('2.0.0', first), since('2.0.0', second)]));
