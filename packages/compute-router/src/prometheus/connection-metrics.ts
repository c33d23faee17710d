import type { ServerStatistics } from '@apistrata/healthcheck/server';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Creates the metrics of a guarded server, collected at each scrape. */
export function connectionMetrics(register: Registry, statistics: () => ServerStatistics): void {
  const registers = [register];
  const now = (name: string, help: string, read: (serverStatistics: ServerStatistics) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(statistics()));
      },
    });
  const ever = (name: string, help: string, read: (found: ServerStatistics) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(statistics()));
      },
    });
  now('apistrata_connections', 'Open client connections', ({ connections }) => connections);
  now('apistrata_connections_busy', 'Connections with a request in progress', ({ busy }) => busy);
  now(
    'apistrata_unread_bytes',
    'Bytes of responses that clients have not received yet',
    ({ unreadBytes }) => unreadBytes,
  );
  ever(
    'apistrata_connections_dropped_total',
    'Connections closed because there were too many',
    ({ dropped }) => dropped,
  );
  ever(
    'apistrata_connections_stalled_total',
    'Connections closed because the client did not read the response',
    ({ stalled }) => stalled,
  );
}
