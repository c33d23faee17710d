import type { VersionLike } from '@apistrata/microversion';
import type { ApiDescription, Operation } from '@apistrata/microversion-router';
import type { CodeSample } from './model/code-samples.js';
import { VersionRange } from './model/versions.js';
import { checkTheme, type Logo, type ThemeColors } from './theme.js';

/** A token that visitors can use to send requests. */
export interface OfferedToken {
  /** The user and role of the token, such as `ada, a member of the project demo`. */
  readonly label: string;
  readonly token: string;
}

/** A section of the navigation. */
export interface OperationGroup {
  readonly title: string;
  /** Titles of this section's tags, keyed by tag, in navigation order. */
  readonly tags: Readonly<Record<string, string>>;
  /** Whether the section is collapsed until a visitor opens it. Default: false. */
  readonly collapsed?: boolean;
}

/** Facts about an operation that its definition does not contain. */
export interface OperationFacts {
  /** Whether only administrators can call the operation by default. */
  readonly adminOnly?: boolean;
  /** The resource states in which the operation is allowed, by field name. */
  readonly states?: Readonly<Record<string, string>>;
}

/** The source of existing values for the request form: a list of resources, and the field that contains the value. */
export interface ValueSource {
  /** Path of the list, such as `/images`. Parameters in the path are filled with values from the form. */
  readonly path: string;
  /** Resource field that contains the value. Default: `id`. */
  readonly field?: string;
  /** Version at which the list is requested. Default: the page's version. */
  readonly version?: string;
}

/** How visitors to the pages authenticate. */
export interface AuthenticationGuide {
  /** Explanation for visitors, as plain text with code between backticks. */
  readonly text: string;
  /**
   * Base URL of an identity service (version 3) that issues tokens for user names and passwords. The service must allow
   * requests from the pages.
   */
  readonly identityUrl?: string;
}

/** Texts of the pages, as plain text with code between backticks. */
export interface PageTexts {
  /** Introduction on the first page. Default: the text of `description`. */
  readonly introduction?: string;
  /** Text at the end of every page. Default: none. */
  readonly footer?: string;
}

/** Options for `explorer()`, which describe the API and the presentation of its pages. */
export interface ExplorerOptions {
  /** The operations of the API, as passed to `createRouter()`. */
  readonly operations: readonly Operation[];
  /** The lowest and the highest version to show, `MAJOR.MINOR`. Both must have the same major number. */
  readonly min?: VersionLike;
  readonly max?: VersionLike;
  /** All versions to show, if they are dates, semver or integers. Replaces `min` and `max`. */
  readonly versions?: readonly VersionLike[];
  /** Name of the API. Default: the title of `description`. */
  readonly title?: string;
  /** The API description, as for `openApi()`. */
  readonly description?: Partial<ApiDescription>;
  /**
   * Base of the operations' paths: a path (`/v2.1`) or a URL (`https://api.example.com/v2.1`). Default: the root of
   * the server that serves the pages.
   */
  readonly server?: string;
  /** What changed in each version and why, as plain text, keyed by version. */
  readonly history?: Readonly<Record<string, string>>;
  /** Tokens that the request form offers, for the first header in `securitySchemes`. */
  readonly tokens?: readonly OfferedToken[];
  /** Explains how visitors authenticate in the request form. Default: the description of the security scheme. */
  readonly authentication?: AuthenticationGuide;
  /**
   * Command lines, keyed by operation name. `{version}` and path parameters such as `{id}` are placeholders:
   * `{ showServer: 'cloud --version {version} server show {id}' }`.
   */
  readonly commands?: Readonly<Record<string, string>>;
  /** Sections of the navigation. Tags without a section appear in an additional section at the beginning. */
  readonly groups?: readonly OperationGroup[];
  /** Tags whose operations repeat another tag's operations and are not listed: `{ 'volumes-boot': 'servers' }`. */
  readonly tagAliases?: Readonly<Record<string, string>>;
  /** Returns facts about an operation, which are shown as labels and as a table of states. */
  readonly facts?: (operation: Operation) => OperationFacts | undefined;
  /**
   * Code samples in addition to `curl`, `JavaScript`, `Python` and `Go`. A sample with one of these labels replaces the
   * built-in one.
   */
  readonly samples?: readonly CodeSample[];
  /** Sources of existing values for the request form, keyed by the name of a path parameter or request body field. */
  readonly valueSources?: Readonly<Record<string, ValueSource>>;
  /** Returns the OpenAPI document for a version as JSON. Default: generated from the operations. */
  readonly documents?: (version: string) => string;
  /** Image in the header. Default: the project's logo. */
  readonly logo?: Logo;
  /** Page colors by name: `{ accent: { light: '#0b5fa5', dark: '#7fbdf7' } }`. */
  readonly colors?: ThemeColors;
  /** Texts that replace or extend the texts of the pages. */
  readonly texts?: PageTexts;
  /**
   * Path at which the pages are mounted, for `node:http`. Default: the path at which Express mounts the handler, otherwise
   * the root.
   */
  readonly path?: string;
}

const KNOWN_OPTIONS: { readonly [name in keyof Required<ExplorerOptions>]: true } = {
  operations: true,
  min: true,
  max: true,
  versions: true,
  title: true,
  description: true,
  server: true,
  history: true,
  tokens: true,
  authentication: true,
  commands: true,
  groups: true,
  tagAliases: true,
  facts: true,
  samples: true,
  valueSources: true,
  documents: true,
  logo: true,
  colors: true,
  texts: true,
  path: true,
};

/** Throws a TypeError if an option is unknown, missing or malformed. */
export function checkOptions(options: ExplorerOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN_OPTIONS, name));
  if (unknown)
    throw new TypeError(
      `explorer(): unknown option "${unknown}" (known options: ${Object.keys(KNOWN_OPTIONS).join(', ')})`,
    );
  const required = options.versions ? (['operations'] as const) : (['operations', 'min', 'max'] as const);
  if (options.versions && (options.min ?? options.max) !== undefined)
    throw new TypeError('explorer(): the option "versions" replaces "min" and "max": remove them');
  for (const name of required) {
    if (options[name] === undefined) throw new TypeError(`explorer(): the option "${name}" is missing`);
  }
  checkTheme(options.colors, options.logo);
  if (options.path !== undefined && !/^(?:\/[^/?#]+)*$/.test(options.path))
    throw new TypeError(`explorer(): the path "${options.path}" must start with a slash and end without one: "/docs"`);
}

/** Returns the versions that the options define. @throws TypeError or RangeError if they are invalid */
export function versionsOf({ versions, min, max }: ExplorerOptions): VersionRange {
  if (versions) return VersionRange.of(versions);
  return VersionRange.between(min as VersionLike, max as VersionLike);
}
