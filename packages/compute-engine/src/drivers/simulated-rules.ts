import type { Server } from '../model/index.js';
import type { DriverVerb, DriverWork, WorkOrigin } from './driver.js';

/** Selects commands that meet all given conditions. `name` is an exact server name or a regular expression. */
export interface RuleMatch {
  readonly verb?: DriverVerb | readonly DriverVerb[];
  /** Name of the action: `rebuild`, `os-migrateLive`, ... */
  readonly action?: string;
  readonly name?: string | Pick<RegExp, 'test'>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly flavor?: string;
  readonly image?: string;
  readonly host?: string;
}

/** Scripted behavior of a simulated machine. */
export interface Rule {
  readonly match: RuleMatch;
  /** The first matching call to which the rule applies, counted from 1. */
  readonly fromCall?: number;
  /** Number of calls to which the rule applies. `fail: '...', times: 2` fails twice, then has no effect. */
  readonly times?: number;
  /** Delays the command by this number of milliseconds. */
  readonly delayMs?: number;
  /** Rejects the command with this message. */
  readonly fail?: string;
  /** Blocks the command until `release()` is called. */
  readonly hang?: true;
}

const RULE_KEYS = ['match', 'fromCall', 'times', 'delayMs', 'fail', 'hang'];
const MATCH_KEYS = ['verb', 'action', 'name', 'metadata', 'flavor', 'image', 'host'];

/**
 * Throws a TypeError for unknown keys. Rules may come from files, where a misspelled key would silently match
 * everything.
 */
export function checkRule(rule: Rule): void {
  for (const [part, value, knownKeys] of [
    ['a rule', rule, RULE_KEYS],
    ['"match" in a rule', rule.match ?? {}, MATCH_KEYS],
  ] as const) {
    const unknownKey = Object.keys(value).find((key) => !knownKeys.includes(key));
    if (unknownKey)
      throw new TypeError(
        `unknown key "${unknownKey}" in ${part} of the simulated driver (known: ${knownKeys.join(', ')})`,
      );
  }
  if (!rule.match) throw new TypeError('a rule of the simulated driver requires "match"; {} matches all commands');
}

function matchesPattern(pattern: string | Pick<RegExp, 'test'>, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : pattern.test(text);
}

/** Returns whether a rule applies to a command. */
export function matchesCommand(match: RuleMatch, work: DriverWork, server: Server, origin: WorkOrigin): boolean {
  const { verb, action, name, metadata, flavor, image, host } = match;
  return (
    (verb === undefined || [verb].flat().includes(work.verb)) &&
    (action === undefined || action === origin.action) &&
    (name === undefined || matchesPattern(name, server.name)) &&
    (flavor === undefined || flavor === server.flavor.id || flavor === server.flavor.name) &&
    (image === undefined || image === server.imageId) &&
    (host === undefined || host === server.host) &&
    Object.entries(metadata ?? {}).every(([key, value]) => server.metadata[key] === value)
  );
}
