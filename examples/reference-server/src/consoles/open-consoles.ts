import { hostname } from 'node:os';
import type { Engine, Settings } from '@apistrata/compute-engine';
import type { Logger } from 'pino';
import { listen } from '../listen.js';
import type { Options } from '../options.js';
import { createConsoleProxy } from './console-proxy.js';

/** The usual port of noVNC proxies. */
const DEFAULT_PORT = 6080;

/** A console proxy that accepts connections. */
export interface RunningConsoleProxy {
  /** The engine settings that contain the proxy's URL. */
  readonly settings: Pick<Settings, 'consoleProxyUrl'>;
  /** Sets the engine whose consoles the proxy serves. */
  readonly use: (engine: Engine) => void;
  readonly close: () => void;
}

/** Replaces a wildcard address in a URL with the host name of this computer. */
function withHostName(url: string, { host }: Options): string {
  return host === '0.0.0.0' || host === '::' ? url.replace(/\/\/[^/]*(?=:\d+$)/, `//${hostname()}`) : url;
}

/**
 * Starts the console proxy, if machines have consoles.
 * @throws StartError if the requested port is not available
 */
export async function startConsoleProxy(options: Options, log: Logger): Promise<RunningConsoleProxy | undefined> {
  if (options.driver === 'simulated') return undefined;
  let engine: Engine | undefined;
  const proxy = createConsoleProxy(
    () => {
      if (!engine) throw new Error('the engine has not started yet');
      return engine;
    },
    (error) => log.warn({ err: error }, 'a console could not be opened'),
  );
  const { host, 'console-port': port } = options;
  const listeningUrl = listen(proxy.server, host, port ?? DEFAULT_PORT, 'console-');
  const url = await (port === undefined
    ? listeningUrl.catch(() => listen(proxy.server, host, 0, 'console-'))
    : listeningUrl);
  return {
    settings: { consoleProxyUrl: withHostName(url, options) },
    use: (created) => {
      engine = created;
    },
    close: proxy.close,
  };
}
