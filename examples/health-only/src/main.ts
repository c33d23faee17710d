import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService } from './service.js';

const port = Number(process.env.PORT ?? 3000);
const drainFile = process.env.DRAIN_FILE ?? join(tmpdir(), 'my-shop-drain');
const orderTimes: number[] = [Date.now()];

const { app, health } = createService({
  drainFile,
  operatorNetworks: process.env.ON_DUTY ?? '127.0.0.0/8, ::1',
  orders: { waiting: () => orderTimes.length, oldestMs: () => Date.now() - (orderTimes[0] ?? Date.now()) },
});

const server = app.listen(port, () => {
  console.log(`http://localhost:${port}/healthcheck       for the load balancer; touch ${drainFile} to drain`);
  console.log(`http://localhost:${port}/internal/health   for operators, with details`);
});

process.once('SIGTERM', () => {
  // The endpoints fail first, so that the load balancer uses other instances while this one serves its last requests.
  for (const endpoint of health) endpoint.shutdown();
  setTimeout(() => server.close(() => process.exit()), 5_000);
});
