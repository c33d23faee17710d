import { hostname } from 'node:os';
import type { Engine, Settings } from '@apistrata/compute-engine';
import type { Logger } from 'pino';
import { listen } from '../listen.js';
import type { Options } from '../options.js';
import { consoleProxy } from './console-proxy.js';

/** Where proxies of consoles usually are. */
const USUAL_PORT = 6080;

/** The proxy of consoles while it listens. */
export interface OpenConsoles {
  /** What the engine has to know of it: its address. */
  readonly settings: Pick<Settings, 'consoleProxyUrl'>;
  /** From here on it serves the consoles of this engine. */
  readonly use: (engine: Engine) => void;
  readonly close: () => void;
}

/** A program that listens on all addresses is called by its name. */
function named(url: string, { host }: Options): string {
  return host === '0.0.0.0' || host === '::' ? url.replace(/\/\/[^/]*(?=:\d+$)/, `//${hostname()}`) : url;
}

/**
 * Listens for browsers that want consoles, where machines have any.
 * @throws StartError where the port that was asked for cannot be had
 */
export async function openConsoles(options: Options, log: Logger): Promise<OpenConsoles | undefined> {
  if (options.driver === 'simulated') return undefined;
  let engine: Engine | undefined;
  const proxy = consoleProxy(
    () => {
      if (!engine) throw new Error('nobody is told of consoles before there is an engine');
      return engine;
    },
    (error) => log.warn({ err: error }, 'a console could not be opened'),
  );
  const { host, 'console-port': port } = options;
  const listening = listen(proxy.server, host, port ?? USUAL_PORT, 'console-');
  const url = await (port === undefined ? listening.catch(() => listen(proxy.server, host, 0, 'console-')) : listening);
  return {
    settings: { consoleProxyUrl: named(url, options) },
    use: (made) => {
      engine = made;
    },
    close: proxy.close,
  };
}
