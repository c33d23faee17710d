import type { ServerStatistics } from '@apistrata/healthcheck/server';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Creates the metrics of a guarded server, collected at each scrape. */
export function connectionMetrics(register: Registry, statistics: () => ServerStatistics): void {
  const registers = [register];
  const addGauge = (name: string, help: string, read: (current: ServerStatistics) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(statistics()));
      },
    });
  const addCounter = (name: string, help: string, read: (current: ServerStatistics) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(statistics()));
      },
    });
  addGauge('apistrata_connections', 'Open client connections', ({ connections }) => connections);
  addGauge('apistrata_connections_busy', 'Connections with a request in progress', ({ busy }) => busy);
  addGauge(
    'apistrata_unread_bytes',
    'Bytes of responses that clients have not received yet',
    ({ unreadBytes }) => unreadBytes,
  );
  addCounter(
    'apistrata_connections_dropped_total',
    'Connections closed because there were too many',
    ({ dropped }) => dropped,
  );
  addCounter(
    'apistrata_connections_stalled_total',
    'Connections closed because the client did not read the response',
    ({ stalled }) => stalled,
  );
}
