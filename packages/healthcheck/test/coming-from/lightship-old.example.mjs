import express from 'express';
import { createLightship } from 'lightship';

const lightship = await createLightship({
  port: Number(process.env.HEALTH_PORT ?? 9000),
  detectKubernetes: false,
  shutdownDelay: 1_000,
});
const app = express();
app.get('/', (_req, res) => res.send('Hello'));
app.post('/orders', (_req, res) => {
  const beacon = lightship.createBeacon({ job: 'mail' });
  res.status(202).end();
  setTimeout(() => {
    console.log('mail sent');
    void beacon.die();
  }, 1_500);
});

const server = app.listen(process.env.PORT ?? 3000, () => lightship.signalReady());
lightship.registerShutdownHandler(() => new Promise((resolve) => server.close(resolve)));
lightship.registerShutdownHandler(() => console.log('bye'));
