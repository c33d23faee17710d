import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as Sentry from '@sentry/core';
import { ServerRuntimeClient } from '@sentry/core/server';
import express from 'express';
import morgan from 'morgan';
import { expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { currentRequestId, requestId } from '../src/index.js';

// An import of pino-http would change the type of every request in the tests.
const require = createRequire(import.meta.url);
const pinoHttp: (options: object, stream: object) => express.RequestHandler = require('pino-http');
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

/** Runs the first code block after a text in the README, with values for the names that the block uses. */
function runRecipe(text: string, given: Readonly<Record<string, unknown>>): void {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme.split(text)[1] ?? '') ?? [];
  new Function(...Object.keys(given), code)(...Object.values(given));
}

/** An id in the form of nginx. */
const ID = '0af7651916cd43dd8448eb211c80319c';

const send = (app: RequestListener) => sendRequest(app, { headers: { 'X-Request-Id': ID } });

it('the lines of morgan and pino-http contain req.id with the recipe of the README', async () => {
  const lines: Record<'morgan' | 'pino', string[]> = { morgan: [], pino: [] };
  const stream = (name: keyof typeof lines) => ({ write: (line: string) => void lines[name].push(line) });
  const app = express();
  runRecipe('**Morgan and pino-http**', {
    app,
    requestId,
    pinoHttp: (options: object) => pinoHttp(options, stream('pino')),
    morgan: Object.assign((format: string) => morgan(format, { stream: stream('morgan') }), { token: morgan.token }),
  });
  app.get('/', (req, res) => void res.send(String((req as { id?: unknown }).id)));
  expect((await send(app)).body).toBe(ID);
  await expect.poll(() => lines.morgan).toEqual([`${ID} GET / 200\n`]);
  await expect.poll(() => lines.pino.map((line) => JSON.parse(line).req.id)).toEqual([ID]);
});

it('the lines of morgan and pino-http contain req.id if they run after the middleware', async () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const app = express();
  app.use(requestId(), pinoHttp({}, stream));
  app.get('/', (_req, res) => void res.send('ok'));
  await send(app);
  await expect.poll(() => lines.map((line) => JSON.parse(line).req.id)).toEqual([ID]);
});

it('the events of Sentry have the id as a tag with the recipe of the README', async () => {
  const events: unknown[] = [];
  const client = new ServerRuntimeClient({
    dsn: 'https://key@sentry.invalid/1',
    integrations: [],
    stackParser: () => [],
    transport: () => ({ send: async () => ({}), flush: async () => true }),
    beforeSend: (event) => {
      events.push(event.tags?.request_id);
      return null;
    },
  });
  Sentry.setCurrentClient(client);
  client.init();
  runRecipe('**Sentry**', { Sentry, currentRequestId });
  const app = express();
  app.use(requestId());
  app.get('/', (_req, res) => {
    Sentry.captureException(new Error('failed'));
    res.send('ok');
  });
  await send(app);
  await expect.poll(() => events).toEqual([ID]);
});
