import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '@apistrata/compute-engine';
import { tapBodies } from './body-tap.js';
import type { HttpRules } from './http-rules.js';
import type { Journal } from './journal.js';

const SERVICES = new Set(['identity', 'compute', 'image', 'network', 'volume', 'placement']);

/** Returns the name of the service that serves a path; '' for the cloud's pages. */
function serviceOf(url: string): string {
  const firstSegment = url.split(/[/?]/, 2)[1] ?? '';
  return SERVICES.has(firstSegment) ? firstSegment : '';
}

export interface GatewayOptions {
  readonly journal: Journal;
  readonly rules: HttpRules;
  readonly clock: Clock;
  readonly app: RequestListener;
}

/** Returns the HTTP listener of a cloud. It records requests to services in the journal and applies rules to them. */
export function createListener({ journal, rules, clock, app }: GatewayOptions): RequestListener {
  return function listener(req: IncomingMessage, res: ServerResponse): void {
    const service = serviceOf(req.url ?? '/');
    if (service === '') {
      app(req, res);
      return;
    }
    const tappedBodies = tapBodies(req, res);
    journal.watch(service, req, res, tappedBodies, () => clock.now());
    rules.handle(req, res, tappedBodies, () => app(req, res)).catch((error) => res.destroy(error));
  };
}
