import { healthcheck } from '@apistrata/healthcheck';
import express from 'express';

export const app = express();
const database = { ping: async () => 'pong' };
const db = { name: 'db', check: async () => ({ state: 'available' as const, details: await database.ping() }) };

const health = healthcheck({
  backends: ['disable_by_file', db],
  disableByFilePath: '/run/my-service/drain',
  groups: { live: { backends: [] }, ready: { backends: ['db'] } },
});
app.use(health);

export const server = app.listen(Number(process.env.PORT ?? 3000));
process.once('SIGTERM', () => health.shutdown());
