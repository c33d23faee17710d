import type { VersionLike } from '@apistrata/microversion';
import type { ApiDescription, Operation } from '@apistrata/microversion/router';

/** A token that visitors may use to try an operation. */
export interface OfferedToken {
  /** Whose it is: `ada, a member of demo`. */
  readonly label: string;
  readonly token: string;
}

/** The API to look at, and how it is shown. */
export interface ExplorerOptions {
  /** The operations of the API, as they are given to `createRouter()`. */
  readonly operations: readonly Operation[];
  /** The versions to look at: the lowest and the highest one, of one major number. */
  readonly min: VersionLike;
  readonly max: VersionLike;
  /** Name of the API; default: that of `description`. */
  readonly title?: string;
  /** What documents say beside the operations; what is given to `openApi()` too. */
  readonly description?: Partial<ApiDescription>;
  /**
   * Where the API is: a path (`/v2.1`) or an address (`https://api.example.com/v2.1`) that operations' paths are
   * relative to. Default: the root of the server that serves the pages.
   */
  readonly server?: string;
  /** What changed with a version and why, a paragraph in plain text each, by version. */
  readonly history?: Readonly<Record<string, string>>;
  /** Tokens offered for trying; they go into the first of the API's `securitySchemes` that is a header. */
  readonly tokens?: readonly OfferedToken[];
  /**
   * How operations are called from a command line, by operation name; `{name}` stands for a parameter of the path,
   * `{version}` for the version: `{ showServer: 'cloud --version {version} server show {id}' }`.
   */
  readonly commands?: Readonly<Record<string, string>>;
  /**
   * Path the pages are mounted at, for `node:http`, whose requests do not tell it. Default: where Express mounts the
   * handler, else the root.
   */
  readonly path?: string;
}

const KNOWN: { readonly [name in keyof Required<ExplorerOptions>]: true } = {
  operations: true,
  min: true,
  max: true,
  title: true,
  description: true,
  server: true,
  history: true,
  tokens: true,
  commands: true,
  path: true,
};

/** Throws where an option is misspelt or missing, and says what to write. */
export function checkOptions(options: ExplorerOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown)
    throw new TypeError(`explorer(): unknown option "${unknown}" (there are ${Object.keys(KNOWN).join(', ')})`);
  for (const name of ['operations', 'min', 'max'] as const) {
    if (options[name] === undefined) throw new TypeError(`explorer(): the option "${name}" is missing`);
  }
  if (options.path !== undefined && !/^(?:\/[^/?#]+)*$/.test(options.path))
    throw new TypeError(
      `explorer(): the path "${options.path}" should start with a slash and end without one: "/docs"`,
    );
}
