import { defaultDatabaseSettings, defaultSettings, quotaKinds } from '@apistrata/compute-engine';
import { MAX_VERSION } from '@apistrata/compute-router/versions';
import { defaultLimits } from '@apistrata/healthcheck/server';
import { z } from 'zod';
import { machineOptions } from './machine-options.js';
import {
  choice,
  commandLineFlag,
  commandLineOnlyText,
  flag,
  integer,
  list,
  type OptionKind,
  pairs,
  text,
  type ValueOf,
} from './option-kinds.js';

const DAY_MS = 86_400_000;

/** Returns the schema of each setting, derived from its default. */
function schemasFrom(defaults: object): Record<string, z.ZodType> {
  const schemaOf = (value: unknown) => {
    if (typeof value === 'number') return z.number();
    if (typeof value === 'boolean') return z.boolean();
    return value === null ? z.string().nullable() : z.string();
  };
  const scalarEntries = Object.entries(defaults).filter(([, value]) => value === null || typeof value !== 'object');
  return Object.fromEntries(scalarEntries.map(([name, value]) => [name, schemaOf(value)]));
}

const { durability: _, ...databaseLimits } = defaultDatabaseSettings;
const limit = z.int().min(-1);

const generalOptions = {
  help: commandLineFlag('print this text'),
  version: commandLineFlag('print the version of the program'),
  config: commandLineOnlyText('FILE', 'YAML or JSON file with options; environment and command line override it'),
  'check-config': commandLineFlag('check all options and the files that they refer to, then exit'),
  'print-config-schema': commandLineFlag('print the JSON Schema of the configuration file'),
} as const;

const listeningOptions = {
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer('port to listen on; 0 selects a free port', { min: 0, max: 65_535, fallback: 8774 }),
  'allowed-host': list(
    'NAME',
    'host name that clients use in the Host header; requests with other names get 421; default: any host name. With --auth noauth on a loopback address, the default is only localhost, 127.0.0.1, [::1] and the value of --host',
  ),
  'trust-proxy': list(
    'ADDRESS',
    'proxies whose X-Forwarded-Proto, -Host and -Prefix headers are trusted: loopback, uniquelocal, an address or a network',
  ),
  'cors-origin': list('ORIGIN', 'origin whose pages may call the API from a browser; * for all'),
  limit: pairs('NAME=N', schemasFrom(defaultLimits), 'connection limit, such as maxConnections=500'),
  workers: integer(
    'number of server processes; restarted when they exit, replaced one by one on SIGHUP; needs PostgreSQL; default: a single process',
    { min: 1, max: 256, fallback: undefined },
  ),
  'drain-ms': integer('how long requests are still accepted after SIGTERM or SIGINT', {
    min: 0,
    max: DAY_MS,
    fallback: 5_000,
  }),
} as const;

const databaseOptions = {
  db: text('URL', 'a SQLite file (created if missing), :memory:, or postgres://...', 'data/compute.db'),
  'db-read': list(
    'URL',
    'postgres:// URL of a read replica; use the same list in every process that uses the database',
  ),
  durability: choice(
    'LEVEL',
    ['disk', 'process'],
    'disk',
    'durability of acknowledged writes to a SQLite file: disk (survive a power loss) or process (survive a process exit; faster)',
  ),
  database: pairs('NAME=N', schemasFrom(databaseLimits), 'database limit, such as poolSize=20'),
  'secret-key-file': text(
    'FILE',
    'keys that encrypt secrets in the database, one per line; created if missing; all processes that use the database need the same keys; default: next to the SQLite file, data/secret.key for PostgreSQL',
  ),
} as const;

const authenticationOptions = {
  auth: choice(
    'KIND',
    ['noauth', 'tokens', 'identity'],
    'noauth',
    'how callers authenticate: noauth, tokens (with --tokens) or identity (with --identity-url)',
  ),
  insecure: flag('let other computers connect with --auth noauth, although every client is an administrator'),
  'noauth-project': text('ID', 'project for noauth tokens that do not contain a project; default: the user id'),
  tokens: text('FILE', 'JSON object that maps each token to { userId, projectId, roles }'),
  'policy-file': text('FILE', 'file with policies that replace the defaults'),
} as const;

const apiOptions = {
  'max-version': text(
    'VERSION',
    'highest microversion served; latest: the highest that the API implements',
    MAX_VERSION,
  ),
  headers: choice('NAMES', ['service', 'openstack', 'both'], 'both', 'version headers: service, openstack or both'),
  'no-docs': flag('disable the API documentation at /docs'),
  quota: pairs(
    'NAME=N',
    Object.fromEntries(quotaKinds.map((kind) => [kind, limit])),
    'default quota, such as instances=-1; quota_secrets=... for project quotas',
    { names: /^quota_[a-z_]+$/, schema: limit },
  ),
  'rate-limit': list('RATE', 'maximum requests per user or project, such as user=600/m or project=100/10s'),
  'rate-limit-store': text(
    'STORE',
    'where requests are counted: memory (per process), database (PostgreSQL) or redis://...',
    'memory',
  ),
  'rate-limit-exempt': list('ROLE', 'role whose callers are not rate limited'),
} as const;

const cloudOptions = {
  preset: text('FILE', 'JSON file with the initial resources of the cloud (see --print-preset)'),
  'print-preset': commandLineFlag('print the built-in preset'),
  'print-preset-schema': commandLineFlag('print the JSON Schema of preset files'),
  setting: pairs('NAME=VALUE', schemasFrom(defaultSettings), 'engine setting, such as reclaimSeconds=3600'),
  'latency-ms': integer('duration of each command to a simulated machine', {
    min: 0,
    max: 3_600_000,
    fallback: 0,
  }),
  image: list(
    '[NAME=]FILE[,PROPERTY=VALUE...]',
    'raw, qcow2, vmdk, vhdx or iso file that becomes a public image of the built-in image service',
  ),
  'image-dir': text(
    'DIR',
    'folder for image data of the built-in image service; default: next to the SQLite file, otherwise in the database',
  ),
} as const;

const wholeCloudOptions = {
  cloud: flag(
    'also serve identity, image, network, volume and placement services, with their own users, on the same database',
  ),
  'clouds-yaml': text(
    'FILE',
    'file to which the first start with --cloud writes client settings; default: clouds.yaml next to the SQLite file, data/clouds.yaml for PostgreSQL, none for an in-memory database',
  ),
  'image-source': list(
    'HOST[:PORT]',
    'with --cloud: host from which images may be imported by URL even if its address is not public',
  ),
  'lockout-failure-attempts': integer(
    'with --cloud: number of consecutive failed logins after which an account is locked; default: never locked',
    { min: 1, max: 1_000_000, fallback: undefined },
  ),
  'lockout-duration': integer(
    'seconds for which an account stays locked after the last failed login; 0: until an administrator changes the user',
    { min: 0, max: 1_000_000_000, fallback: 1800 },
  ),
  'reset-admin-password': commandLineFlag('with --cloud: give the user admin a new password, as on the first start'),
} as const;

const serviceOptions = {
  'identity-url': text('URL', 'identity service, v3'),
  'image-url': text('URL', 'image service (v2) that replaces the built-in one'),
  'network-url': text('URL', 'network service (v2) that replaces the built-in one'),
  'volume-url': text('URL', 'volume service (v3) that replaces the built-in one'),
} as const;

const monitoringOptions = {
  'log-level': choice(
    'LEVEL',
    ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    'info',
    'silent, fatal, error, warn, info, debug or trace',
  ),
  'log-format': choice(
    'FORMAT',
    ['auto', 'pretty', 'json'],
    'auto',
    'pretty (one readable line per request), json, or auto: pretty on a terminal, json otherwise',
  ),
  healthcheck: pairs('NAME=VALUE', {}, 'health check option, such as detailed=true', {
    names: /^[a-z_]+$/,
    schema: z.union([z.string(), z.boolean().transform(String)]),
  }),
  'healthcheck-config': text('FILE', 'JSON object with health check options'),
  metrics: flag('Prometheus metrics at /metrics, for every client that can reach the API'),
  'metrics-port': integer('separate port for Prometheus metrics at /metrics; 0 selects a free port', {
    min: 0,
    max: 65_535,
    fallback: undefined,
  }),
  'metrics-host': text('ADDRESS', 'address that --metrics-port listens on', '127.0.0.1'),
  traces: flag('OpenTelemetry spans; load the SDK first, with node --import'),
  events: flag('store events and stream them to administrators at /events'),
  webhook: list('URL', 'send events to this URL; needs --webhook-secret-file'),
  'webhook-attempts': integer(
    "number of attempts to send an event to a webhook that rejects it; then 'admin webhook failures' lists the event",
    {
      min: 1,
      max: 1000,
      fallback: 20,
    },
  ),
  'webhook-secret-file': text('FILE', 'file whose first line is the key that signs webhooks'),
} as const;

/** The options by topic, in the order in which the help lists them. */
export const optionGroups = {
  General: generalOptions,
  Listening: listeningOptions,
  Database: databaseOptions,
  'Authentication and policy': authenticationOptions,
  'API and limits': apiOptions,
  'Cloud and simulated machines': cloudOptions,
  'Whole cloud (--cloud)': wholeCloudOptions,
  'Virtual machines (--driver qemu)': machineOptions,
  'External services': serviceOptions,
  'Logs, health, metrics, events': monitoringOptions,
} as const satisfies Readonly<Record<string, Readonly<Record<string, OptionKind<any>>>>>;

/**
 * All options. This table defines the command line, the environment variables (`APISTRATA_` and the upper-case name
 * with underscores), the configuration file, its JSON Schema and the help text.
 */
export const optionTable = {
  ...generalOptions,
  ...listeningOptions,
  ...databaseOptions,
  ...authenticationOptions,
  ...apiOptions,
  ...cloudOptions,
  ...wholeCloudOptions,
  ...machineOptions,
  ...serviceOptions,
  ...monitoringOptions,
} as const;

export type OptionName = keyof typeof optionTable;

/** The validated options of the program, merged from command line, environment and configuration file. */
export type Options = { readonly [Name in OptionName]: ValueOf<(typeof optionTable)[Name]> };
