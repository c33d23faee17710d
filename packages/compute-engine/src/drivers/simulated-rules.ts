import type { Server } from '../model/index.js';
import type { DriverVerb, DriverWork, WorkOrigin } from './driver.js';

/** Which work a rule speaks of; everything given must hold. Names match whole, or as a regular expression. */
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

/** Scripted behaviour of a simulated machine. */
export interface Rule {
  readonly match: RuleMatch;
  /** Only from this matching call on, counted from 1. */
  readonly fromCall?: number;
  /** Only so many calls, then the rule is spent. `fail: '...', times: 2` fails twice and then lets pass. */
  readonly times?: number;
  readonly delayMs?: number;
  /** Rejects with this message. */
  readonly fail?: string;
  /** Does not go on until `release()`. */
  readonly hang?: true;
}

const RULE_KEYS = ['match', 'fromCall', 'times', 'delayMs', 'fail', 'hang'];
const MATCH_KEYS = ['verb', 'action', 'name', 'metadata', 'flavor', 'image', 'host'];

/** Rules come from files too: a misspelt key would silently match everything. */
export function checkRule(rule: Rule): void {
  for (const [where, given, known] of [
    ['a rule', rule, RULE_KEYS],
    ["a rule's match", rule.match ?? {}, MATCH_KEYS],
  ] as const) {
    const unknown = Object.keys(given).find((key) => !known.includes(key));
    if (unknown)
      throw new TypeError(`${where} of the simulated driver has no "${unknown}" (it has ${known.join(', ')})`);
  }
  if (!rule.match) throw new TypeError('a rule of the simulated driver needs "match": {} for all work');
}

function sameText(pattern: string | Pick<RegExp, 'test'>, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : pattern.test(text);
}

/** Whether a rule speaks of this work. */
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
