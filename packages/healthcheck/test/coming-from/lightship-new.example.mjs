import { gracefulServer } from '@apistrata/healthcheck/server';
import express from 'express';

const app = express();
app.get('/', (_req, res) => res.send('Hello'));
app.post('/orders', (_req, res) => {
  const beacon = service.beacon('mail');
  res.status(202).end();
  setTimeout(() => {
    console.log('mail sent');
    beacon.end();
  }, 1_500);
});

const server = app.listen(process.env.PORT ?? 3000, () => service.health.markReady());
const service = gracefulServer(server, {
  port: Number(process.env.HEALTH_PORT ?? 9000),
  health: {
    path: '/health',
    groups: { live: { path: '/live', backends: [] }, ready: { path: '/ready', backends: [] } },
    startsReady: false,
  },
  delayMs: 1_000,
  onShutdown: () => console.log('bye'),
});
