import type { Driver, DriverVerb, DriverWork } from '../../drivers/driver.js';
import type { Server } from '../../model/index.js';
import { sampleServer } from './sample-server.js';

/** The test runner and the driver under test. */
export interface DriverSuite {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  /** Name of the driver in test titles. */
  readonly name: string;
  /** Creates a driver without machines. */
  readonly open: () => Driver | Promise<Driver>;
  /** Releases the resources of a driver that `open` created; called once for each driver. */
  readonly close?: (driver: Driver) => void | Promise<void>;
  /** Fields of the servers in the tests, such as an image and a flavor that the driver can boot. */
  readonly server?: Partial<Server>;
  /**
   * Commands, such as detaching volumes, that may fail because they need the guest's cooperation and the image does not
   * provide it. Default: none.
   */
  readonly needsGuest?: readonly DriverVerb[];
  /** Two hosts of the driver; default `host1` and `host2`. */
  readonly hosts?: readonly [string, string];
}

/** A driver under test, with helpers for servers. */
export interface DriverFixture {
  readonly driver: Driver;
  readonly hosts: readonly [string, string];
  /**
   * Creates the record of a server without a machine. The record is frozen, because drivers must not change records.
   */
  newServer(fields?: Partial<Server>): Server;
  /** Executes a command; a no-op if the driver does not support it. */
  perform(work: DriverWork, server: Server): Promise<void>;
  /** Creates a server with a running machine. */
  spawnServer(fields?: Partial<Server>): Promise<Server>;
  supports(verb: DriverVerb): boolean;
}

export type DriverTest = (title: string, body: (fixture: DriverFixture) => Promise<void>) => void;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Returns a function that defines a test whose body receives a new driver. */
export function createDriverTest(suite: DriverSuite): DriverTest {
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
        const execution = driver.perform(deepFreeze(work), server, new AbortController().signal, origin);
        await (suite.needsGuest?.includes(work.verb) ? Promise.allSettled([execution]) : execution);
      };
      try {
        await body({
          driver,
          hosts,
          newServer,
          supports,
          perform,
          spawnServer: async (fields) => {
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
