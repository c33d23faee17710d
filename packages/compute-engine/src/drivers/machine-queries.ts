import type { Server } from '../model/index.js';
import type { Driver, DriverVerb } from './driver.js';
import type { HostPowerAction } from './host-control.js';

/** A call to a machine or a host whose caller waits for the response. All forms of the call are derived from its row. */
export interface MachineQuery {
  /** The first argument: the server whose machine responds, or the name of a host. */
  readonly target: 'server' | 'host';
  /** Whether the call may be repeated: a lost response does not prove that it was not executed. */
  readonly idempotent: boolean;
  /** The response if the host is unavailable; undefined: the request of the API is rejected. */
  readonly fallback?: null;
  /** Executes the call with the driver of this process. */
  run(driver: Driver, target: unknown, ...given: readonly unknown[]): Promise<unknown>;
}

type Properties = Partial<Pick<MachineQuery, 'idempotent' | 'fallback'>>;

function ofServer<Given extends readonly unknown[], Result>(
  run: (driver: Driver, server: Server, ...given: Given) => Promise<Result>,
  properties: Properties = {},
) {
  return { target: 'server', idempotent: true, ...properties, run } as const;
}

function ofHost<Given extends readonly unknown[], Result>(
  run: (driver: Driver, host: string, ...given: Given) => Promise<Result>,
  properties: Properties = {},
) {
  return { target: 'host', idempotent: true, ...properties, run } as const;
}

export const machineQueries = {
  /** Returns what prevents this machine from executing a command that its driver supports; null: nothing. */
  obstacle: ofServer(
    async (driver, server, verb: DriverVerb, destHost?: string) =>
      (await driver.obstacle?.(verb, server, destHost)) ?? null,
  ),
  consoleOutput: ofServer((driver, server) => driver.consoleOutput(server)),
  /** Returns null if unknown, as do all calls below. */
  diagnostics: ofServer((driver, server) => driver.diagnostics(server)),
  console: ofServer((driver, server, type: string) => driver.console(server, type)),
  /** Returns the progress of a server's live migration. */
  moveProgress: ofServer(async (driver, server) => (await driver.moveProgress?.(server)) ?? null, { fallback: null }),
  hostUptime: ofHost(async (driver, host) => (await driver.hostUptime?.(host)) ?? null),
  /** Returns null if power actions on hosts are unsupported. */
  hostPower: ofHost(async (driver, host, action: HostPowerAction) => (await driver.hostPower?.(host, action)) ?? null, {
    idempotent: false,
  }),
  /** Returns false if maintenance is unsupported. */
  hostMaintenance: ofHost(async (driver, host, on: boolean) => {
    if (!driver.hostMaintenance) return false;
    await driver.hostMaintenance(host, on);
    return true;
  }),
};

export type MachineQueryName = keyof typeof machineQueries;

/** The methods that the rows define. */
export type MachineQueries = {
  readonly [Name in MachineQueryName]: (typeof machineQueries)[Name]['run'] extends (
    driver: Driver,
    ...given: infer Given
  ) => infer Result
    ? (...given: Given) => Result
    : never;
};

/** Derives a form of all queries from their rows. */
export function queriesBy(
  form: (name: MachineQueryName, row: MachineQuery) => (target: never, ...given: never[]) => Promise<unknown>,
): MachineQueries {
  const rows = Object.entries(machineQueries) as [MachineQueryName, MachineQuery][];
  return Object.fromEntries(rows.map(([name, row]) => [name, form(name, row)])) as unknown as MachineQueries;
}

/** The form that uses a driver of this process. */
export function localQueries(driver: Driver): MachineQueries {
  return queriesBy(
    (_, row) =>
      (...given: readonly unknown[]) =>
        row.run(driver, given[0], ...given.slice(1)),
  );
}
