import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../src/operation.js';
import { serverAction } from '../../src/operations/servers/server-docs.js';
import { nap } from './nap.example.js';

export const napServer = operation({
  ...serverAction,
  name: 'napServer',
  action: 'nap',
  summary: 'Pause a server for a while',
  description: 'Pauses a server for a number of seconds. Asynchronous: poll the server until its status is `ACTIVE`.',
  // @ts-expect-error: only the test that this is for has the rule
  policy: 'os_compute_api:servers:nap',
  errors: [400, 403, 404, 409, 501],
  body: object({ nap: object({ seconds: z.int().min(1) }) }),
  reply: { wakes_in: z.int() },
  run: async ({ engine, context, target, body }) => ({
    wakes_in: await engine.servers.act(context, target.id, nap, body.nap),
  }),
});
