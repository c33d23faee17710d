import type { VersionLike } from '@apistrata/microversion';
import type { ApiDescription, Operation } from '@apistrata/microversion/router';

/** A token that visitors can use to send requests. */
export interface OfferedToken {
  /** The user and role of the token, such as `ada, a member of demo`. */
  readonly label: string;
  readonly token: string;
}

/** The API to show, and how to show it. */
export interface ExplorerOptions {
  /** The operations of the API, as they are given to `createRouter()`. */
  readonly operations: readonly Operation[];
  /** The lowest and the highest version to show. Both must have the same major number. */
  readonly min: VersionLike;
  readonly max: VersionLike;
  /** Name of the API; default: that of `description`. */
  readonly title?: string;
  /** The description that `openApi()` also accepts. */
  readonly description?: Partial<ApiDescription>;
  /**
   * Base of the paths of operations: a path (`/v2.1`) or a URL (`https://api.example.com/v2.1`). Default: the root of
   * the server that serves the pages.
   */
  readonly server?: string;
  /** What each version changed and why, as plain text, by version. */
  readonly history?: Readonly<Record<string, string>>;
  /** Tokens offered in the request form, for the first header of `securitySchemes`. */
  readonly tokens?: readonly OfferedToken[];
  /**
   * Command lines by operation name. `{version}` and path parameters such as `{id}` are placeholders: `{ showServer: 'cloud --version {version} server show {id}' }`.
   */
  readonly commands?: Readonly<Record<string, string>>;
  /**
   * Path at which the pages are mounted, for `node:http`. Default: the path at which Express mounts the handler, otherwise
   * the root.
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

/** Throws a TypeError if an option is unknown, missing or malformed. */
export function checkOptions(options: ExplorerOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown)
    throw new TypeError(`explorer(): unknown option "${unknown}" (known options: ${Object.keys(KNOWN).join(', ')})`);
  for (const name of ['operations', 'min', 'max'] as const) {
    if (options[name] === undefined) throw new TypeError(`explorer(): the option "${name}" is missing`);
  }
  if (options.path !== undefined && !/^(?:\/[^/?#]+)*$/.test(options.path))
    throw new TypeError(`explorer(): the path "${options.path}" must start with a slash and end without one: "/docs"`);
}
