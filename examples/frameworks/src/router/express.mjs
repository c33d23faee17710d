import express from 'express';
import { router } from './api.mjs';

const app = express();
app.get('/hello', (_req, res) => res.send('hello'));
// A mount path such as `app.use('/v1', router)` is removed from the path that the router sees.
app.use(router);

export const server = app.listen(Number(process.env.PORT ?? 3000));
