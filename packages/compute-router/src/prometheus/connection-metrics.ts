import type { ServerStatistics } from '@apistrata/healthcheck/server';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Creates the connection metrics of a server that `guardServer()` protects. They are collected at each scrape. */
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
    'Response bytes that are buffered because clients have not received them yet',
    ({ unreadBytes }) => unreadBytes,
  );
  addCounter(
    'apistrata_connections_dropped_total',
    'Connections closed because the maximum number of connections was reached',
    ({ dropped }) => dropped,
  );
  addCounter(
    'apistrata_connections_stalled_total',
    'Connections closed because the client did not read the response',
    ({ stalled }) => stalled,
  );
}
