/** The commands and their help texts. */
export const COMMANDS = {
  serve: 'serve documentation of OpenAPI documents, one for each version (FILE or VERSION=FILE), or of --operations',
  build: 'write the same pages as a static site to the folder --out',
  check: 'fail if FILE has changes that are incompatible with --against, but no new version',
  changes: 'write the changes from --version to --to, or between OpenAPI documents, breaking changes first',
  openapi: 'write the OpenAPI document for a version, or with --to one file per version to the folder --out',
  types: 'write a TypeScript module with types for the requests and responses of all versions, or of --version to --to',
} as const;

export type CommandName = keyof typeof COMMANDS;

/** A command-line option. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** Placeholder for the value in the help text. */
  readonly value?: string;
  readonly help: string;
  /** The commands that accept the option. Default: all. */
  readonly only?: readonly CommandName[];
  /** Whether the option can be repeated. */
  readonly multiple?: boolean;
}

const GENERATOR_COMMANDS = ['openapi', 'types', 'changes'] as const;
const PAGE_COMMANDS = ['serve', 'build'] as const;

/** The command-line options, from which the help text and the validation are derived. */
export const COMMAND_OPTIONS = {
  version: {
    type: 'string',
    value: 'V',
    help: 'version, or first version of a range (default: the highest; for types the lowest)',
    only: GENERATOR_COMMANDS,
  },
  to: { type: 'string', value: 'V2', help: 'last version of the range', only: GENERATOR_COMMANDS },
  operations: {
    type: 'string',
    value: 'MODULE',
    help: 'file or package that exports `operations` (default: the compute API)',
  },
  out: {
    type: 'string',
    value: 'FILE',
    help: 'output file, or output folder for several files (default: standard output)',
    only: ['build', ...GENERATOR_COMMANDS],
  },
  actions: {
    type: 'string',
    value: 'MODE',
    help: 'how to describe actions that share a path: one-of (default) or separate',
    only: ['openapi'],
  },
  format: {
    type: 'string',
    value: 'FORMAT',
    help: 'output format: markdown (default for changes), text (default for check), json, or github (check)',
    only: ['changes', 'check'],
  },
  against: {
    type: 'string',
    value: 'FILE',
    help: 'the published OpenAPI document, FILE or VERSION=FILE',
    only: ['check'],
  },
  strict: { type: 'boolean', help: 'also fail for compatible changes without a new version', only: ['check'] },
  changelog: {
    type: 'string',
    value: 'FILE',
    help: 'changelog file to add the entry to',
    only: ['check'],
  },
  port: { type: 'string', value: 'PORT', help: 'port (default: 8080; 0 selects a free one)', only: ['serve'] },
  host: { type: 'string', value: 'HOST', help: 'address to listen on (default: 127.0.0.1)', only: ['serve'] },
  'allowed-host': {
    type: 'string',
    value: 'NAME',
    help: 'additional name to accept in the Host header, for example the name of a proxy; on loopback, requests with unknown names get 421 (repeatable)',
    only: ['serve'],
    multiple: true,
  },
  title: { type: 'string', value: 'TEXT', help: 'name of the API', only: PAGE_COMMANDS },
  server: { type: 'string', value: 'URL', help: 'base URL of the API for samples and requests', only: PAGE_COMMANDS },
  logo: { type: 'string', value: 'FILE', help: 'logo in the page header: SVG, PNG, JPEG or WebP', only: PAGE_COMMANDS },
  color: {
    type: 'string',
    value: 'NAME=COLOR',
    help: 'page color, such as accent=#0b5fa5 or accent=#0b5fa5/#7fbdf7 for light and dark (repeatable)',
    only: PAGE_COMMANDS,
    multiple: true,
  },
  introduction: { type: 'string', value: 'TEXT', help: 'introduction on the first page', only: PAGE_COMMANDS },
  footer: { type: 'string', value: 'TEXT', help: 'text at the end of every page', only: PAGE_COMMANDS },
  openapi: {
    type: 'string',
    value: 'VERSIONS',
    help: 'which OpenAPI documents the site contains: all (default), newest or none',
    only: ['build'],
  },
  help: { type: 'boolean', help: 'show this help' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** The options as a list in which option names have the type `string`. */
export const OPTION_LIST: readonly (readonly [name: string, option: OptionSpec])[] = Object.entries(COMMAND_OPTIONS);
