import { createTerminus } from '@godaddy/terminus';
import express from 'express';

const database = { query: async () => [1], end: async () => console.log('database closed') };
const app = express();
app.get('/', (_req, res) => setTimeout(() => res.send('Hello'), 500));

createTerminus(app.listen(process.env.PORT ?? 3000), {
  signals: ['SIGTERM', 'SIGINT'],
  healthChecks: { '/healthcheck': () => database.query() },
  useExit0: true,
  beforeShutdown: () => new Promise((resolve) => setTimeout(resolve, 1_000)),
  onSignal: () => database.end(),
  onShutdown: () => console.log('bye'),
});
