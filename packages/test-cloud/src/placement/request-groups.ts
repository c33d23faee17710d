import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { isAtLeast } from './placement-version.js';
import { unknownPropertiesMessage } from './request-body.js';
import {
  badQuery,
  badValue,
  checkNames,
  type Group,
  parseAmounts,
  parseRequirements,
  parseTraits,
  type Requirements,
} from './requirements.js';

/** Throws a 400 error if a group both requires and forbids a trait. */
function rejectConflicts(groups: readonly Group[]): void {
  const conflicts = groups.flatMap(({ suffix, required, forbidden }) =>
    required
      .filter((names) => [...names].every((name) => forbidden.has(name)))
      .map((names) => `required${suffix}: (${[...names].sort().join(', ')})`),
  );
  if (conflicts.length > 0)
    throw badRequest(
      `Conflicting required and forbidden traits found in the following traits keys: ${conflicts.sort().join(', ')}`,
    );
}

/** The minor versions that introduced the query parameters for allocation candidates, except those of groups. */
const FIRST_MINOR_BY_PARAMETER: Readonly<Record<string, number>> = {
  limit: 16,
  group_policy: 25,
  root_required: 35,
  same_subtree: 36,
};
/** The minor versions that introduced the parameters of request groups, whose names may have suffixes. */
const FIRST_MINOR_BY_GROUP_PARAMETER: Readonly<Record<string, number>> = {
  resources: 10,
  required: 17,
  member_of: 21,
  in_tree: 31,
};

function suffixPattern(call: Call): string {
  if (isAtLeast(call, 33)) return '([a-zA-Z0-9_-]{1,64})?';
  return isAtLeast(call, 25) ? '([1-9][0-9]*)?' : '()';
}

/** Returns the groups' suffixes. Throws a 400 error for parameters that the microversion does not support. */
function parseSuffixes(call: Call): readonly string[] {
  const allowedNames = Object.keys(FIRST_MINOR_BY_GROUP_PARAMETER).filter((name) =>
    isAtLeast(call, FIRST_MINOR_BY_GROUP_PARAMETER[name] ?? 0),
  );
  const patterns = allowedNames.map((name) => new RegExp(`^${name}${suffixPattern(call)}$`));
  const suffixes = new Set<string>();
  const unknownNames = new Set<string>();
  for (const key of call.query.keys()) {
    const pattern = patterns.find((one) => one.test(key));
    if (pattern) suffixes.add(pattern.exec(key)?.[1] ?? '');
    else if (!isAtLeast(call, FIRST_MINOR_BY_PARAMETER[key] ?? Number.POSITIVE_INFINITY)) unknownNames.add(key);
  }
  const quoteAll = (texts: Iterable<string>) =>
    [...texts]
      .sort()
      .map((text) => `'${text}'`)
      .join(', ');
  if (unknownNames.size > 0)
    throw badQuery(
      isAtLeast(call, 25)
        ? `${quoteAll(unknownNames)} ${unknownNames.size > 1 ? 'do' : 'does'} not match any of the regexes: ${quoteAll(patterns.map(({ source }) => source))}`
        : unknownPropertiesMessage([...unknownNames]),
    );
  return [...suffixes];
}

function checkOrphans(groups: readonly Group[]): void {
  const findOrphans = (name: string, has: (group: Group) => boolean) => {
    const keys = groups.filter((group) => group.resources.size === 0 && has(group)).map(({ suffix }) => name + suffix);
    return keys.join(', ');
  };
  const traits = findOrphans('required', ({ required }) => required.length > 0);
  if (traits !== '')
    throw badRequest(
      `All traits parameters must be associated with resources.  Found the following orphaned traits keys: ${traits}`,
    );
  const aggregates = findOrphans('member_of', ({ memberOf, notMemberOf }) => memberOf.length + notMemberOf.size > 0);
  if (aggregates !== '')
    throw badRequest(
      `All member_of parameters must be associated with resources. Found the following orphaned member_of keys: ${aggregates}`,
    );
  if (groups.length === 0) throw badRequest('At least one request group (`resources` or `resources{$S}`) is required.');
  if (findOrphans('', () => true) !== '' || groups.some(({ resources }) => resources.size === 0))
    throw badRequest('All request groups must specify resources.');
}

function checkSubtrees(groups: readonly Group[], subtrees: readonly ReadonlySet<string>[]): void {
  const suffixesWithoutResources = groups.filter(({ resources }) => resources.size === 0).map(({ suffix }) => suffix);
  if (suffixesWithoutResources.length === groups.length)
    throw badRequest(
      'There must be at least one resources or resources[$S] parameter.',
      'placement.query.missing_value',
    );
  const mappedSuffixes = new Set(subtrees.flatMap((suffixes) => [...suffixes]));
  const unmappedSuffixes = suffixesWithoutResources.filter((suffix) => !mappedSuffixes.has(suffix));
  const formatSuffixes = (suffixes: readonly string[]) => `[${suffixes.map((suffix) => `'${suffix}'`).join(', ')}]`;
  if (unmappedSuffixes.length > 0)
    throw badValue(
      `Resourceless suffixed group request should be specified in \`same_subtree\` query param: bad group(s) - ${formatSuffixes(unmappedSuffixes)}.`,
    );
  const unknownSuffixes = [...mappedSuffixes].filter((name) => !groups.some(({ suffix }) => suffix === name));
  if (unknownSuffixes.length > 0)
    throw badValue(
      `Real suffixes should be specified in \`same_subtree\`: ${formatSuffixes(unknownSuffixes)} not found in ${formatSuffixes(groups.map(({ suffix }) => suffix))}.`,
    );
}

/** A parsed request for allocation candidates. */
export interface CandidateRequest {
  readonly groups: readonly Group[];
  /** Whether each group with a suffix must use a different provider. */
  readonly isolates: boolean;
  readonly limit: number;
  /** The traits that the root of the tree must have or must not have. */
  readonly root: Pick<Requirements, 'required' | 'forbidden'>;
  /** Sets of group suffixes. One provider of each set must be an ancestor of the set's other providers. */
  readonly subtrees: readonly ReadonlySet<string>[];
}

/** The maximum number of candidates in a response. */
const MAX_CANDIDATES = 1000;

function parseSubtrees(call: Call): readonly ReadonlySet<string>[] {
  return call.query.getAll('same_subtree').map((value) => {
    const suffixes = value.split(',').map((suffix) => suffix.trim());
    if (suffixes.includes(''))
      throw badValue('Empty string (unsuffixed group) can not be specified in `same_subtree` ');
    return new Set(suffixes);
  });
}

function parseRootTraits(call: Call): CandidateRequest['root'] {
  const rootRequired = call.query.getAll('root_required');
  if (rootRequired.length > 1)
    throw badRequest("Query parameter 'root_required' may be specified only once.", 'placement.query.duplicate_key');
  const { required = [], forbidden = [] } =
    rootRequired.length > 0 ? parseTraits(call, rootRequired[0] ?? '', false) : {};
  const conflictingTraits = required.flatMap((names) => [...names]).filter((name) => forbidden.includes(name));
  if (conflictingTraits.length > 0)
    throw badValue(
      `Conflicting required and forbidden traits found in root_required: ${conflictingTraits.sort().join(', ')}`,
    );
  return { required, forbidden: new Set(forbidden) };
}

/** Parses a request for allocation candidates. Throws a 400 error for an invalid parameter. */
export async function parseCandidateRequest(call: Call): Promise<CandidateRequest> {
  const { query } = call;
  if (!isAtLeast(call, 25) && !query.has('resources')) throw badQuery("'resources' is a required property");
  const suffixes = parseSuffixes(call);
  const limit = query.get('limit');
  if (limit !== null && !/^[1-9][0-9]*$/.test(limit))
    throw badQuery(
      `'${limit}' does not match '^[1-9][0-9]*$'\n\nFailed validating 'pattern' in schema['properties']['limit']`,
    );
  const policy = query.get('group_policy');
  if (policy !== null && policy !== 'none' && policy !== 'isolate')
    throw badQuery(`'${policy}' is not one of ['none', 'isolate']`);
  const root = parseRootTraits(call);
  const subtrees = parseSubtrees(call);
  const groups = suffixes.map((suffix): Group => {
    const requestedResources = query.getAll(`resources${suffix}`).at(-1);
    return {
      suffix,
      resources: requestedResources === undefined ? new Map() : parseAmounts(requestedResources),
      ...parseRequirements(call, suffix),
    };
  });
  if (isAtLeast(call, 36)) checkSubtrees(groups, subtrees);
  else checkOrphans(groups);
  if (isAtLeast(call, 22)) rejectConflicts(groups);
  if (groups.filter(({ suffix }) => suffix !== '').length > 1 && policy === null)
    throw badRequest(
      'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
    );
  await checkNames(call, [{ resources: new Map(), ...root }, ...groups]);
  return {
    groups,
    isolates: policy === 'isolate',
    limit: Math.min(limit === null ? MAX_CANDIDATES : Number(limit), MAX_CANDIDATES),
    root,
    subtrees,
  };
}
