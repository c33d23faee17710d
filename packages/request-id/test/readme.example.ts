import { headersFor, requestId } from '@apistrata/request-id';
import express from 'express';

export const app = express();
app.use(requestId());

app.get('/', (req, res) => {
  // Every log line and every call to another service carries the id.
  res.json({ id: (req as typeof req & { id: string }).id, sendOn: headersFor(req) });
});

export const server = app.listen(Number(process.env.PORT ?? 3000));
