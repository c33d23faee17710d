import { serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { router } from './api.mjs';

const app = new Hono();
app.get('/hello', (c) => c.text('hello'));
app.all('*', (c) => {
  router(c.env.incoming, c.env.outgoing);
  return RESPONSE_ALREADY_SENT;
});

export const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
