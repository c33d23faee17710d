import { defaultDatabaseSettings, defaultSettings, quotaKinds } from '@apistrata/compute-engine';
import { MAX_VERSION } from '@apistrata/compute-router/versions';
import { defaultLimits } from '@apistrata/healthcheck/server';
import { z } from 'zod';
import { choice, command, flag, list, pairs, pointer, text, type ValueOf, wholeNumber } from './option-kinds.js';

const DAY_MS = 86_400_000;

/** The schema of each of several settings, by its default. */
function like(defaults: object): Record<string, z.ZodType> {
  const schemaOf = (value: unknown) => {
    if (typeof value === 'number') return z.number();
    if (typeof value === 'boolean') return z.boolean();
    return value === null ? z.string().nullable() : z.string();
  };
  const plain = Object.entries(defaults).filter(([, value]) => value === null || typeof value !== 'object');
  return Object.fromEntries(plain.map(([name, value]) => [name, schemaOf(value)]));
}

const { durability: _, ...databaseLimits } = defaultDatabaseSettings;
const limit = z.int().min(-1);

/**
 * Every option: the one table that the command line, the environment (`APISTRATA_` and the name in capitals, dashes as
 * underscores), the configuration file, its schema and the help are made of.
 */
export const optionTable = {
  config: pointer('FILE', 'YAML file with any of these options; environment and command line win over it'),
  'check-config': command('check all options and the files they name, and end'),
  'print-config-schema': command('print the JSON Schema of the configuration file, and end'),
  host: text('H', 'address to listen on', '127.0.0.1'),
  port: wholeNumber('port to listen on; 0 takes a free one', { least: 0, most: 65_535, fallback: 8774 }),
  db: text('URL', ':memory:, a file, or postgres://...; a file is made when missing', 'data/compute.db'),
  'db-read': list(
    'URL',
    'postgres://... of a replica that answers questions; every process of the database is given the same',
  ),
  durability: choice(
    'D',
    ['disk', 'process'],
    'disk',
    'what 202 promises of a SQLite file: disk (outlives a power cut) or process (only its end; faster)',
  ),
  database: pairs('NAME=N', like(databaseLimits), 'a limit of the database, such as poolSize=20'),
  'secret-key-file': text(
    'FILE',
    'keys that seal secrets in the database, one in each line, made when missing; default: beside a SQLite file, data/secret.key for PostgreSQL, where every process needs the same',
  ),
  auth: choice(
    'KIND',
    ['noauth', 'tokens', 'identity'],
    'noauth',
    'noauth, tokens (with --tokens) or identity (with --identity-url)',
  ),
  'noauth-project': text('ID', 'project of noauth tokens that name none'),
  tokens: text('FILE', 'JSON object: token -> { userId, projectId, roles }'),
  preset: text('FILE', 'JSON file: what the cloud has from the start (see --print-preset)'),
  'print-preset': command('print the built-in preset and end'),
  'print-preset-schema': command('print the JSON Schema of files with presets and end'),
  headers: choice('NAMES', ['service', 'openstack', 'both'], 'both', 'version headers: service, openstack or both'),
  'max-version': text('V', 'highest microversion, up to the last that the API knows', MAX_VERSION),
  driver: choice(
    'KIND',
    ['simulated', 'qemu', 'none'],
    'simulated',
    'what servers are: simulated, qemu (virtual machines on this computer), or none (all hosts are processes of their own)',
  ),
  'machine-dir': text('DIR', 'folder of machines: with --driver qemu, and of hosts of their own', 'data/machines'),
  'shared-dir': text(
    'DIR',
    'with --driver qemu and hosts of their own: folder for disks on storage that several hosts reach; machines move between those without copies',
  ),
  acceleration: choice(
    'A',
    ['auto', 'kvm', 'tcg'],
    'auto',
    'with --driver qemu: kvm, tcg (slow, works everywhere) or auto, which is kvm where a guest really runs with it',
  ),
  'console-port': wholeNumber(
    'with --driver qemu: port of the proxy for screens and serial lines (default 6080, a free one where that is taken); browsers call it by --setting consoleProxyUrl=...',
    { least: 0, most: 65_535, fallback: undefined },
  ),
  'network-mode': choice(
    'MODE',
    ['user', 'bridge'],
    'user',
    'with --driver qemu: user (guests reach out, and nobody reaches them but by --forward) or bridge (networks, routers, floating addresses and security groups; as root)',
  ),
  forward: list(
    '[NAME:]PORT:GUESTPORT',
    'with --driver qemu: a port of this computer that leads to one of a server; PORT may be a range, of which each server gets one',
  ),
  'forward-address': text('A', 'address of this computer that --forward listens on', '127.0.0.1'),
  image: list('FILE', 'adds a raw or qcow2 file to the built-in image service, for everybody to boot from'),
  'image-dir': text(
    'DIR',
    'folder where the built-in image service keeps content; default: beside a SQLite file, else in the database',
  ),
  'latency-ms': wholeNumber('time every step of a simulated machine takes', { least: 0, most: 3_600_000, fallback: 0 }),
  'policy-file': text('FILE', 'policies that replace defaults'),
  setting: pairs('NAME=VALUE', like(defaultSettings), 'a setting of the engine, such as reclaimSeconds=3600'),
  quota: pairs(
    'NAME=N',
    Object.fromEntries(quotaKinds.map((kind) => [kind, limit])),
    'a default limit, such as instances=-1; quota_secrets=... for project quotas',
    { names: /^quota_[a-z_]+$/, schema: limit },
  ),
  limit: pairs('NAME=N', like(defaultLimits), 'a limit of connections, such as maxConnections=500'),
  'trust-proxy': list(
    'ADDRESS',
    'proxies whose X-Forwarded-Proto, -Host and -Prefix are believed: loopback, uniquelocal, an address or a network',
  ),
  'rate-limit': list(
    'user=N/TIME',
    'requests that each user, or each project (project=N/TIME), may make: user=600/m, project=100/10s',
  ),
  'rate-limit-store': text(
    'STORE',
    'where they are counted: memory (by each process), database (PostgreSQL) or redis://...',
    'memory',
  ),
  'rate-limit-exempt': list('ROLE', 'callers with this role are not counted'),
  workers: wholeNumber(
    'processes that serve, started again when they die, replaced one by one at SIGHUP; needs PostgreSQL; default: this process alone',
    { least: 1, most: 256, fallback: undefined },
  ),
  'drain-ms': wholeNumber('how long requests are still served after SIGTERM or SIGINT', {
    least: 0,
    most: DAY_MS,
    fallback: 5_000,
  }),
  healthcheck: pairs('NAME=VALUE', {}, 'an option of the health endpoint, such as detailed=true', {
    names: /^[a-z_]+$/,
    schema: z.union([z.string(), z.boolean().transform(String)]),
  }),
  'healthcheck-config': text('FILE', 'JSON object with options of the health endpoint'),
  'cors-origin': list('ORIGIN', 'pages of this origin may be clients; * for all'),
  'identity-url': text('URL', 'identity service, v3'),
  'image-url': text('URL', 'image service, v2, instead of the built-in one'),
  'network-url': text('URL', 'network service, v2'),
  'volume-url': text('URL', 'volume service, v3'),
  'log-level': choice(
    'L',
    ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    'info',
    'silent, fatal, error, warn, info, debug or trace',
  ),
  metrics: flag('metrics for Prometheus at /metrics, for everybody who can reach the API'),
  'metrics-port': wholeNumber('metrics for Prometheus at /metrics of a port of their own; 0 takes a free one', {
    least: 0,
    most: 65_535,
    fallback: undefined,
  }),
  'metrics-host': text('H', 'address to listen on for --metrics-port', '127.0.0.1'),
  traces: flag('spans for OpenTelemetry, whose SDK is to be loaded before the program: node --import'),
  events: flag('keep what happens, and tell it to administrators as a stream on /events'),
  webhook: list('URL', 'tell what happens to this address too; needs --webhook-secret-file'),
  'webhook-secret-file': text('FILE', 'what is told to webhooks is signed with the first line of this file'),
  'no-docs': flag('no pages about the API on /docs'),
  help: command('this text'),
} as const;

export type OptionName = keyof typeof optionTable;

/** What the program was told, checked. */
export type Options = { readonly [Name in OptionName]: ValueOf<(typeof optionTable)[Name]> };
