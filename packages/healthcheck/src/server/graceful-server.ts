import { createServer, type RequestListener, type Server } from 'node:http';
import { type Healthcheck, healthcheck } from '../healthcheck.js';
import { type Beacon, Beacons } from './beacons.js';
import {
  type GracefulServerOptions,
  type GracefulSettings,
  gracefulSettings,
  type ShutdownHook,
} from './graceful-options.js';
import { type GuardedServer, guardServer, type HttpServer } from './guard-server.js';

/** A server that reports its health, and completes its requests before it shuts down. */
export interface GracefulServer {
  /** The health endpoints, with `markReady()`, `markNotReady(reason)`, `whenFirstReady()` and `status()`. */
  readonly health: Healthcheck;
  /** Connection limits and statistics. */
  readonly guarded: GuardedServer;
  /** The server on the separate port, if the option `port` is set. */
  readonly healthServer: Server | undefined;
  /** Creates a beacon: a shutdown waits until the beacon has ended. */
  beacon(name?: string): Beacon;
  /**
   * Shuts the server down as after a signal, but does not exit the process. A repeated call returns the same promise.
   *
   * @returns the hook errors, and a timeout error if `timeoutMs` was exceeded; empty after a clean shutdown. Never rejects.
   */
  shutdown(): Promise<readonly Error[]>;
}

/**
 * Adds health endpoints to a server, and shuts it down on a signal. On a signal, the endpoints fail, `beforeShutdown`
 * runs, the server accepts requests for `delayMs`, every accepted request is completed, all beacons end, `onShutdown`
 * runs, and the process exits with 0, or with 1 if a hook failed or `timeoutMs` was exceeded. Additional signals are
 * ignored in the meantime. Call this function after all request listeners are attached.
 *
 * @throws HealthcheckConfigError if an option is unknown or invalid
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { gracefulServer } from '@apistrata/healthcheck/server';
 *
 * const server = createServer((_req, res) => void res.end()).listen(3000);
 * const database = { end: async () => {} };
 * const { health } = gracefulServer(server, { health: { startsReady: false }, onShutdown: () => database.end() });
 * health.markReady();
 * ```
 */
export function gracefulServer(server: HttpServer, options: GracefulServerOptions = {}): GracefulServer {
  const settings = gracefulSettings(options);
  const { port, host, limits } = options;
  const health = typeof options.health === 'function' ? options.health : healthcheck(options.health);
  if (port === undefined) serveHealthFirst(server, health);
  const guarded = guardServer(server, limits);
  const healthServer = port === undefined ? undefined : createServer(health).listen(port, host);
  // The separate server must not keep the process alive.
  healthServer?.unref();
  const beacons = new Beacons();
  let shutdownPromise: Promise<readonly Error[]> | undefined;

  const closeServers = async () => {
    health.close();
    server.closeAllConnections();
    if (!healthServer) return;
    const healthServerClosed = new Promise((resolve) => healthServer.close(resolve));
    healthServer.closeAllConnections();
    await healthServerClosed;
  };
  const service: GracefulServer = {
    health,
    guarded,
    healthServer,
    beacon: (name = 'beacon') => beacons.create(name),
    shutdown() {
      shutdownPromise ??= runShutdown({ settings, health, guarded, beacons }).finally(closeServers);
      return shutdownPromise;
    },
  };
  for (const signal of settings.signals) {
    process.on(signal, () => {
      void service.shutdown().then((errors) => process.exit(errors.length > 0 ? 1 : 0));
    });
  }
  return service;
}

/** Handles requests to the endpoints; all other requests reach the server's own listeners. */
function serveHealthFirst(server: HttpServer, health: Healthcheck): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (req, res) => {
    health(req, res, (error) => {
      if (error) res.destroy(error as Error);
      else for (const listener of listeners) listener.call(server, req, res);
    });
  });
}

interface ShutdownParts {
  readonly settings: GracefulSettings;
  readonly health: Healthcheck;
  readonly guarded: GuardedServer;
  readonly beacons: Beacons;
}

async function runShutdown({ settings, health, guarded, beacons }: ShutdownParts): Promise<readonly Error[]> {
  const errors: Error[] = [];
  let currentStep = 'beforeShutdown';
  let hasTimedOut = false;
  const addError = (message: string, cause?: unknown) => {
    errors.push(new Error(message, { cause }));
    settings.error(`healthcheck: ${message}`);
  };
  const runHooks = async (name: string, hooks: readonly ShutdownHook[]) => {
    currentStep = name;
    for (const hook of hooks) {
      if (hasTimedOut) return;
      try {
        await hook();
      } catch (error) {
        addError(`${name} failed: ${error}`, error);
      }
    }
  };
  const runSteps = async () => {
    health.shutdown();
    await runHooks('beforeShutdown', settings.beforeShutdown);
    currentStep = 'requests';
    await guarded.drain({ health, ...settings.drain });
    currentStep = 'beacons';
    await beacons.whenEnded();
    await runHooks('onShutdown', settings.onShutdown);
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      const names = currentStep === 'beacons' ? `: ${beacons.names.join(', ')}` : '';
      addError(`the shutdown took longer than ${settings.timeoutMs} ms, waiting for ${currentStep}${names}`);
      hasTimedOut = true;
      resolve();
    }, settings.timeoutMs);
  });
  await Promise.race([runSteps(), timeout]);
  clearTimeout(timer);
  return errors;
}
