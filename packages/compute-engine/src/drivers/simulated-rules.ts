import type { Server } from '../model/index.js';
import type { DriverVerb, DriverWork, WorkOrigin } from './driver.js';

/** Selects commands; all given conditions must match. Names match completely, or as a regular expression. */
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
  readonly delayMs?: number;
  /** Rejects with this message. */
  readonly fail?: string;
  /** Blocks until `release()`. */
  readonly hang?: true;
}

const RULE_KEYS = ['match', 'fromCall', 'times', 'delayMs', 'fail', 'hang'];
const MATCH_KEYS = ['verb', 'action', 'name', 'metadata', 'flavor', 'image', 'host'];

/** Rules also come from files, where a misspelled key would silently match everything. */
export function checkRule(rule: Rule): void {
  for (const [path, given, known] of [
    ['a rule', rule, RULE_KEYS],
    ["a rule's match", rule.match ?? {}, MATCH_KEYS],
  ] as const) {
    const unknown = Object.keys(given).find((key) => !known.includes(key));
    if (unknown)
      throw new TypeError(`${path} of the simulated driver has no "${unknown}" (it has ${known.join(', ')})`);
  }
  if (!rule.match) throw new TypeError('a rule of the simulated driver needs "match": {} for all work');
}

function sameText(pattern: string | Pick<RegExp, 'test'>, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : pattern.test(text);
}

/** Returns whether a rule applies to a command. */
export function matches(match: RuleMatch, work: DriverWork, server: Server, origin: WorkOrigin): boolean {
  const { verb, action, name, metadata, flavor, image, host } = match;
  return (
    (verb === undefined || [verb].flat().includes(work.verb)) &&
    (action === undefined || action === origin.action) &&
    (name === undefined || sameText(name, server.name)) &&
    (flavor === undefined || flavor === server.flavor.id || flavor === server.flavor.name) &&
    (image === undefined || image === server.imageId) &&
    (host === undefined || host === server.host) &&
    Object.entries(metadata ?? {}).every(([key, value]) => server.metadata[key] === value)
  );
}
