import { headersFor, requestId, requestIdOf } from '@apistrata/request-id';
import express from 'express';

export const app = express();
app.use(requestId());

app.get('/', (req, res) => {
  res.json({ ...requestIdOf(req), sendOn: headersFor(req) });
});

export const server = app.listen(Number(process.env.PORT ?? 3000));
