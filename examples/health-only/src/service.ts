import { eventLoopDelay, type Healthcheck, healthcheck } from '@apistrata/healthcheck';
import express, { type Express } from 'express';
import { type OrderTable, stuckOrders } from './stuck-orders.js';

/** The options of the service. */
export interface ServiceOptions {
  /** While a file exists at this path, the load balancer sends no requests. */
  readonly drainFile: string;
  /** Networks of the operators, comma-separated. */
  readonly operatorNetworks: string;
  readonly orders: OrderTable;
}

/** The application and its two health endpoints, so that the program can shut them down. */
export interface Service {
  readonly app: Express;
  readonly health: readonly Healthcheck[];
}

/** A shop without any compute API: one route, and two health endpoints for two audiences. */
export function service({ drainFile, operatorNetworks, orders }: ServiceOptions): Service {
  const ordersCheck = stuckOrders(orders);

  // For the load balancer and the orchestrator: states and reasons, no details.
  const publicHealth = healthcheck({
    path: '/healthcheck',
    backends: ['disable_by_file', ordersCheck],
    disableByFilePath: drainFile,
    groups: { live: { backends: [eventLoopDelay()] }, ready: { backends: ['disable_by_file', 'stuck_orders'] } },
  });

  // For operators: everything, but only from their networks and never through the proxy.
  const internalHealth = healthcheck({
    path: '/internal/health',
    backends: [ordersCheck, eventLoopDelay({ beyond: 'degraded' })],
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
