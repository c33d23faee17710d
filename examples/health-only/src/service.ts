import { eventLoopDelay, type Healthcheck, healthcheck } from '@apistrata/healthcheck';
import express, { type Express } from 'express';
import { type OrderTable, stuckOrdersCheck } from './stuck-orders.js';

/** The options of the service. */
export interface ServiceOptions {
  /** While this file exists, `/healthcheck` fails, so that the load balancer sends no requests. */
  readonly drainFile: string;
  /** The networks that operators connect from, separated by commas. */
  readonly operatorNetworks: string;
  readonly orders: OrderTable;
}

/** The application, and the two health endpoints, which fail when the program shuts down. */
export interface Service {
  readonly app: Express;
  readonly health: readonly Healthcheck[];
}

/** Creates a shop service with one route and two health endpoints: for the load balancer and for operators. */
export function createService({ drainFile, operatorNetworks, orders }: ServiceOptions): Service {
  const ordersCheck = stuckOrdersCheck(orders);

  // For the load balancer and the orchestrator: states and reasons, no details.
  const publicHealth = healthcheck({
    path: '/healthcheck',
    backends: ['disable_by_file', ordersCheck],
    disableByFilePath: drainFile,
    groups: { live: { backends: [eventLoopDelay()] }, ready: { backends: ['disable_by_file', 'stuck_orders'] } },
  });

  // For operators: all details, but only for requests from their networks and never through the proxy.
  const internalHealth = healthcheck({
    path: '/internal/health',
    backends: [ordersCheck, eventLoopDelay({ stateBeyondLimit: 'degraded' })],
    detailed: true,
    names: true,
    allowedSourceRanges: operatorNetworks,
    ignoreProxiedRequests: true,
  });

  const app = express();
  app.use(publicHealth, internalHealth);
  app.get('/orders', (_req, res) => {
    res.json({ waiting: orders.waiting() });
  });
  return { app, health: [publicHealth, internalHealth] };
}
