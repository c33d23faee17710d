import { healthcheck, ping } from '@apistrata/healthcheck';
import { gracefulServer } from '@apistrata/healthcheck/server';
import express from 'express';

const database = { query: async () => [1], end: async () => console.log('database closed') };

const health = healthcheck({
  backends: ['disable_by_file', ping(() => database.query(), { name: 'database' })],
  disableByFilePath: '/run/my-service/drain',
  groups: { live: { backends: [] }, ready: { backends: ['database'] } },
});

export const app = express();
app.use(health);
app.get('/', (_req, res) => void res.send('Hello'));

export const server = app.listen(Number(process.env.PORT ?? 3000));
gracefulServer(server, { health, onShutdown: () => database.end() });
