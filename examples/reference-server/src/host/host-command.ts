import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { defaultSettings, SecretKeyError } from '@apistrata/compute-engine';
import { type Driver, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { createHost, type Host, type HostOptions } from '@apistrata/compute-engine/hosts';
import { QemuError, qemuDriver } from '@apistrata/qemu';
import type { Logger } from 'pino';
import { z } from 'zod';
import { checkPorts } from '../check-environment.js';
import { isSqliteFile, maskPassword, secretKeyFileFrom } from '../database-url.js';
import { formatOptionRows, wrapParagraphs } from '../help-text.js';
import { openLog } from '../open-log.js';
import { choice, commandLineFlag, integer, pairs, text } from '../option-kinds.js';
import type { Options } from '../options.js';
import { type OptionTable, readCommandLine } from '../read-options.js';
import { detectRealMachines } from '../real-machines.js';
import { catalogsFrom } from '../services.js';
import type { ShutdownTarget } from '../shut-down-gracefully.js';
import { StartError } from '../start-error.js';
import { openHostMonitoring } from './host-monitoring.js';

/** PostgreSQL's error code for a missing privilege, for example after an update that added tables. */
const PERMISSION_DENIED = '42501';

const amountSchema = z.int().min(0);
const resourceSchemas = { vcpus: amountSchema, memoryMb: amountSchema, diskGb: amountSchema };

/** The options that `host` accepts in addition to the server's options. */
const hostOptionTable = {
  name: text('NAME', 'name of the host, its service and its hypervisor', hostname()),
  address: text(
    'A',
    'address of the host, for administrators and other processes; default: the address of this computer',
  ),
  'host-key-file': text(
    'FILE',
    "key of this host, written by 'admin host-role', instead of --secret-key-file: the host can decrypt only data that is addressed to it",
  ),
  'link-port': integer('port for connections from other processes; 0 selects a free port', {
    min: 0,
    max: 65_535,
    fallback: 0,
  }),
  'tunnel-port': integer(
    'UDP port of the tunnels between hosts (with --network-mode bridge); must differ between hosts on one computer',
    { min: 1, max: 65_535, fallback: 4789 },
  ),
  'tunnel-encryption': choice(
    'KIND',
    ['off', 'wireguard'],
    'off',
    'encryption of the tunnels between hosts (with --network-mode bridge): off or wireguard; the same on all hosts of the cloud',
  ),
  'wireguard-port': integer('WireGuard UDP port (with --tunnel-encryption wireguard)', {
    min: 1,
    max: 65_535,
    fallback: 51_820,
  }),
  'link-listen': text('A', 'address that --link-port listens on; default: --address'),
  resource: pairs(
    'NAME=N',
    resourceSchemas,
    'capacity of the host, if it differs from that of the computer: vcpus, memoryMb, diskGb',
  ),
  'heartbeat-ms': integer('interval between heartbeats', { min: 100, max: 600_000, fallback: 10_000 }),
  'lease-ms': integer('how long the lease on the host name lasts without renewal', {
    min: 500,
    max: 600_000,
    fallback: 10_000,
  }),
  fence: choice(
    'KIND',
    ['off', 'stop', 'pause'],
    'off',
    'what happens to the machines after two thirds of serviceDownSeconds without a heartbeat, before they may be evacuated: off, stop or pause',
  ),
  volumes: commandLineFlag('store volume data on this host; several hosts can have this option'),
  reserve: pairs(
    'NAME=N',
    resourceSchemas,
    'capacity reserved for the computer itself: vcpus, memoryMb (default 512), diskGb',
  ),
} satisfies OptionTable;

interface HostCommandOptions {
  readonly name: string;
  readonly address: string | undefined;
  readonly 'host-key-file': string | undefined;
  readonly 'link-port': number;
  readonly 'tunnel-port': number;
  readonly 'tunnel-encryption': 'off' | 'wireguard';
  readonly 'wireguard-port': number;
  readonly 'link-listen': string | undefined;
  readonly resource: Readonly<Record<string, number>>;
  readonly volumes: boolean;
  readonly reserve: Readonly<Record<string, number>>;
  readonly 'heartbeat-ms': number;
  readonly 'lease-ms': number;
  readonly fence: 'off' | 'stop' | 'pause';
}

/** Returns the text of `host --help`. */
export function hostHelpText(): string {
  return [
    'Usage: apistrata host --name NAME --db postgres://... [options]',
    '',
    ...wrapParagraphs(
      'Makes this computer a host of the cloud whose API is served by other processes that use the same database. The program runs servers with --driver (simulated or qemu) until it is stopped. Virtual machines keep running and are adopted at the next start.',
    ),
    '',
    'Options:',
    ...formatOptionRows(hostOptionTable),
    '',
    ...wrapParagraphs(
      'It also accepts these server options (see --help): --db, --secret-key-file, --driver, --machine-dir, --shared-dir, --image-cache-gib, --volume-pool, --acceleration, --cpu-mode, --cpu-model, --cpu-feature, --network-mode, --provider-network, --no-vhost-net, --forward, --forward-address, --latency-ms, --image-dir, --image-url, --network-url, --identity-url, --database, --setting serviceDownSeconds=N, --metrics-port, --metrics-host, --healthcheck, --healthcheck-config, --log-level, --log-format, --config and the environment variables.',
    ),
  ].join('\n');
}

/** A running host. */
export interface RunningHost extends ShutdownTarget {
  readonly host: Host;
  readonly database: string;
  /** URL of the metrics; undefined without `--metrics-port`. */
  readonly metricsUrl: string | undefined;
}

async function driverFrom(
  options: Options,
  own: HostCommandOptions,
  log: Logger,
): Promise<Pick<HostOptions, 'driver' | 'directory'> & { readonly resources?: HostOptions['resources'] }> {
  const directory = resolve(options['machine-dir']);
  if (options.driver === 'simulated') {
    const latencyMs = options['latency-ms'];
    return { driver: (clock): Driver => new SimulatedDriver({ clock, latencyMs, directory }) };
  }
  if (options.driver === 'none')
    throw new StartError('--driver none is only for processes that serve the API: a host needs a driver');
  const { qemuOptions, seed } = await detectRealMachines(options, directory, log);
  const { ramAllocationRatio, hypervisorType, hypervisorVersion } = seed;
  return {
    driver: qemuDriver({
      ...qemuOptions,
      volumes: own.volumes,
      tunnelPort: own['tunnel-port'],
      tunnelEncryption: own['tunnel-encryption'],
      wireguardPort: own['wireguard-port'],
    }),
    directory,
    resources: { ramAllocationRatio, hypervisorType, hypervisorVersion },
  };
}

/** Returns the file of the host's key, or of the secret key from which the host's key is derived. */
function keyOptionsFrom(
  { 'host-key-file': hostKeyFile }: HostCommandOptions,
  options: Options,
  environment: NodeJS.ProcessEnv,
): Pick<HostOptions, 'hostKeyFile' | 'secretKeyFile'> {
  if (hostKeyFile !== undefined) return { hostKeyFile: resolve(hostKeyFile) };
  return { secretKeyFile: secretKeyFileFrom(options, environment, options.db) };
}

/** Converts errors that administrators can fix to a StartError, which is printed as one line. Other errors are bugs. */
function startErrorOf(error: unknown, db: string): unknown {
  const { message, code, cause } = error as { message: string; code?: string; cause?: Error };
  if (error instanceof StartError) return error;
  if (error instanceof QemuError) return new StartError(`--driver qemu: ${message}`);
  if (error instanceof SecretKeyError) return new StartError(`--secret-key-file or --host-key-file: ${message}`);
  if (code === 'HOST_IN_USE' || error instanceof TypeError) return new StartError(message);
  if (code === PERMISSION_DENIED)
    return new StartError(`--db ${maskPassword(db)}: ${message}; run 'apistrata admin host-role' for this host again`);
  if (code === 'DATABASE_UNAVAILABLE')
    return new StartError(`--db ${maskPassword(db)} cannot be used: ${cause?.message || message}`);
  return error;
}

/**
 * Starts a host.
 * @param onLost called when another process has taken over the name of this host
 * @throws StartError with a one-line message
 */
export async function startHost(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  onLost: () => void,
): Promise<RunningHost> {
  const { positionals, own, options } = readCommandLine(args, environment, hostOptionTable);
  if (positionals.length > 0) throw new StartError(`unexpected argument '${positionals[0]}': see host --help`);
  const ownOptions = own as unknown as HostCommandOptions;
  const { name, address, resource, reserve, fence, ...others } = ownOptions;
  const { db } = options;
  const { serviceDownSeconds = defaultSettings.serviceDownSeconds } = options.setting as Partial<
    typeof defaultSettings
  >;
  if (isSqliteFile(db) || db === ':memory:')
    throw new StartError(
      `--db ${db} cannot be shared with separate hosts: separate hosts need PostgreSQL (--db postgres://...). With SQLite, the process that serves the API runs the machines itself`,
    );
  checkPorts({ 'link-port': others['link-port'], 'metrics-port': options['metrics-port'] });
  const log = await openLog(options);
  const monitoring = await openHostMonitoring(options, log);
  try {
    const { driver, directory, resources: driverResources } = await driverFrom(options, ownOptions, log);
    const host = await createHost({
      ...options.database,
      database: db,
      ...keyOptionsFrom(ownOptions, options, environment),
      name,
      address,
      port: others['link-port'],
      listen: others['link-listen'],
      driver,
      directory,
      resources: { ...driverResources, ...resource },
      reserved: reserve,
      heartbeatMs: others['heartbeat-ms'],
      leaseMs: others['lease-ms'],
      serviceDownSeconds,
      fence,
      catalogs: catalogsFrom(options, environment, { traces: undefined }),
      imageDirectory: options['image-dir'],
      observer: monitoring?.observer,
      onError: (error) => log.error({ err: error }, 'background work of this host failed'),
      onLost: () => {
        log.fatal(`another process has taken over the host ${name}`);
        onLost();
      },
    });
    monitoring?.use(host);
    const stop = async () => {
      monitoring?.close();
      await host.stop();
    };
    return { host, database: maskPassword(db), metricsUrl: monitoring?.url, log, stop, stopsWithinMs: 0 };
  } catch (error) {
    monitoring?.close();
    throw startErrorOf(error, db);
  }
}
