import type { Driver, DriverVerb, DriverWork } from '../../drivers/driver.js';
import type { Server } from '../../model/index.js';
import { sampleServer } from './sample-server.js';

/** What the suite needs from a test runner and of the driver under test. */
export interface DriverSuite {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  /** What the driver is called in the titles. */
  readonly name: string;
  /** A driver without any machine. */
  readonly open: () => Driver | Promise<Driver>;
  /** Ends what `open` began; called once for each. */
  readonly close?: (driver: Driver) => void | Promise<void>;
  /** Fields of the servers that the suite asks for: an image and a flavor that the driver can boot. */
  readonly server?: Partial<Server>;
  /** Work that may fail because a guest has to take part in it, and the image has none: detaching, say. Default: none. */
  readonly needsGuest?: readonly DriverVerb[];
  /** Two hosts of the driver; default `host1` and `host2`. */
  readonly hosts?: readonly [string, string];
}

/** A driver under test, and servers for it. */
export interface DriverBench {
  readonly driver: Driver;
  readonly hosts: readonly [string, string];
  /** A server that the driver has not heard of. Frozen: a driver changes nobody's records. */
  newServer(fields?: Partial<Server>): Server;
  /** Has the work done; passed over in silence where the driver does not support it. */
  perform(work: DriverWork, server: Server): Promise<void>;
  /** A server whose machine runs. */
  spawned(fields?: Partial<Server>): Promise<Server>;
  supports(verb: DriverVerb): boolean;
}

export type DriverTest = (title: string, body: (bench: DriverBench) => Promise<void>) => void;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** An `it` whose body gets a fresh driver. */
export function onFreshDriver(suite: DriverSuite): DriverTest {
  const hosts = suite.hosts ?? (['host1', 'host2'] as const);
  return (title, body) =>
    suite.it(title, async () => {
      const driver = await suite.open();
      const supports = (verb: DriverVerb) => driver.supports?.(verb) !== false;
      const newServer = (fields?: Partial<Server>) =>
        deepFreeze(sampleServer({ host: hosts[0], node: hosts[0], ...suite.server, ...fields }));
      const origin = { action: 'create', requestId: 'req-00000000-0000-4000-8000-000000000000' };
      const perform = async (work: DriverWork, server: Server) => {
        if (!supports(work.verb)) return;
        const performed = driver.perform(deepFreeze(work), server, new AbortController().signal, origin);
        await (suite.needsGuest?.includes(work.verb) ? Promise.allSettled([performed]) : performed);
      };
      try {
        await body({
          driver,
          hosts,
          newServer,
          supports,
          perform,
          spawned: async (fields) => {
            const server = newServer(fields);
            await perform({ verb: 'spawn', adminPassword: 'secret', files: [] }, server);
            return server;
          },
        });
      } finally {
        await suite.close?.(driver);
      }
    });
}
