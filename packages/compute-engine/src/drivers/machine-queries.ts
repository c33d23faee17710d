import type { Server } from '../model/index.js';
import type { Driver, DriverVerb } from './driver.js';
import type { HostPowerAction } from './host-control.js';

/**
 * A call to a machine or a host. The caller waits for the response. Local calls and requests to other processes are
 * both derived from this definition.
 */
export interface MachineQuery {
  /** The type of the first argument: the server whose machine responds, or the name of a host. */
  readonly target: 'server' | 'host';
  /** Whether the call may be repeated if its response was lost, even if it was already executed. */
  readonly idempotent: boolean;
  /** The response if the host is unavailable; if undefined, the API request is rejected. */
  readonly fallback?: null;
  /** Executes the call with this process's driver. */
  run(driver: Driver, target: unknown, ...args: readonly unknown[]): Promise<unknown>;
}

type QueryProperties = Partial<Pick<MachineQuery, 'idempotent' | 'fallback'>>;

function serverQuery<Args extends readonly unknown[], Result>(
  run: (driver: Driver, server: Server, ...args: Args) => Promise<Result>,
  properties: QueryProperties = {},
) {
  return { target: 'server', idempotent: true, ...properties, run } as const;
}

function hostQuery<Args extends readonly unknown[], Result>(
  run: (driver: Driver, host: string, ...args: Args) => Promise<Result>,
  properties: QueryProperties = {},
) {
  return { target: 'host', idempotent: true, ...properties, run } as const;
}

/** All machine queries, by name. */
export const machineQueries = {
  /** Returns what prevents this machine from executing a command that its driver supports, or null if nothing does. */
  obstacle: serverQuery(
    async (driver, server, verb: DriverVerb, destHost?: string) =>
      (await driver.obstacle?.(verb, server, destHost)) ?? null,
  ),
  consoleOutput: serverQuery((driver, server) => driver.consoleOutput(server)),
  /** Returns the diagnostics of a running server, or null if the driver has none. */
  diagnostics: serverQuery((driver, server) => driver.diagnostics(server)),
  /** Returns the endpoint of a console, or null if the driver does not support the type. */
  console: serverQuery((driver, server, type: string) => driver.console(server, type)),
  /** Returns the progress of a server's live migration, or null if it is unknown. */
  moveProgress: serverQuery(async (driver, server) => (await driver.moveProgress?.(server)) ?? null, {
    fallback: null,
  }),
  /** Returns the uptime of a host, or null if it is unknown. */
  hostUptime: hostQuery(async (driver, host) => (await driver.hostUptime?.(host)) ?? null),
  /** Executes a power action on a host. Returns a message, or null if the driver does not support power actions. */
  hostPower: hostQuery(
    async (driver, host, action: HostPowerAction) => (await driver.hostPower?.(host, action)) ?? null,
    { idempotent: false },
  ),
  /** Starts or ends maintenance of a host. Returns false if the driver does not support maintenance. */
  hostMaintenance: hostQuery(async (driver, host, on: boolean) => {
    if (!driver.hostMaintenance) return false;
    await driver.hostMaintenance(host, on);
    return true;
  }),
};

export type MachineQueryName = keyof typeof machineQueries;

/** The methods that `machineQueries` defines. */
export type MachineQueries = {
  readonly [Name in MachineQueryName]: (typeof machineQueries)[Name]['run'] extends (
    driver: Driver,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

/**
 * Creates a method for each query from its definition. The method may, for example, call a driver or send a request to
 * a host.
 */
export function createQueries(
  createMethod: (name: MachineQueryName, row: MachineQuery) => (target: never, ...args: never[]) => Promise<unknown>,
): MachineQueries {
  const rows = Object.entries(machineQueries) as [MachineQueryName, MachineQuery][];
  return Object.fromEntries(rows.map(([name, row]) => [name, createMethod(name, row)])) as unknown as MachineQueries;
}

/** Creates the methods that call a driver of this process. */
export function createLocalQueries(driver: Driver): MachineQueries {
  return createQueries(
    (_, row) =>
      (...args: readonly unknown[]) =>
        row.run(driver, args[0], ...args.slice(1)),
  );
}
