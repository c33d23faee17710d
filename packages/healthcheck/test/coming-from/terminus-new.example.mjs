import { ping } from '@apistrata/healthcheck';
import { gracefulServer } from '@apistrata/healthcheck/server';
import express from 'express';

const database = { query: async () => [1], end: async () => console.log('database closed') };
const app = express();
app.get('/', (_req, res) => setTimeout(() => res.send('Hello'), 500));

gracefulServer(app.listen(process.env.PORT ?? 3000), {
  health: { backends: [ping(() => database.query(), { name: 'database' })], format: 'status' },
  delayMs: 1_000,
  onShutdown: [() => database.end(), () => console.log('bye')],
});
