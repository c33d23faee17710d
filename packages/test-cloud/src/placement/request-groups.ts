import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { classNames, missingClass, missingTraits, traitNames } from './names.js';
import { since } from './placement-version.js';

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** What a provider must have: any trait of each set, any aggregate of each set, and none of the forbidden ones. */
export interface Requirements {
  readonly required: readonly ReadonlySet<string>[];
  readonly forbidden: ReadonlySet<string>;
  readonly memberOf: readonly ReadonlySet<string>[];
  readonly notMemberOf: ReadonlySet<string>;
  /** The id of a provider in the tree; undefined: any tree. */
  readonly inTree: string | undefined;
}

/** A part of a request for candidates: amounts by resource class, and requirements. */
export interface Group extends Requirements {
  /** Empty for the group that several providers may satisfy together. */
  readonly suffix: string;
  readonly resources: ReadonlyMap<string, number>;
}

const badValue = (message: string) => badRequest(message, 'placement.query.bad_value');
export const badQuery = (message: string) => badRequest(`Invalid query string parameters: ${message}`);

/** Throws a 400 error for the first unknown parameter. */
export function checkParameters(call: Call, knownNames: readonly string[]): void {
  const unknownName = [...call.query.keys()].find((key) => !knownNames.includes(key));
  if (unknownName !== undefined)
    throw badQuery(`Additional properties are not allowed ('${unknownName}' was unexpected)`);
}

/** Parses amounts of resources, such as `VCPU:2,MEMORY_MB:512`. */
export function amountsOf(written: string): ReadonlyMap<string, number> {
  const form = 'Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024.';
  if (written.trim() === '') throw badRequest(`Badly formed resources parameter. ${form} Got: empty string.`);
  return new Map(
    written.split(',').map((part) => {
      const [name = '', amount = '', ...rest] = part.split(':');
      if (!part.includes(':') || rest.length > 0)
        throw badRequest(`Badly formed resources parameter. ${form} Got: ${part}.`);
      if (!/^\s*[+-]?\d+\s*$/.test(amount))
        throw badRequest(`Requested resource ${name} expected positive integer amount. Got: ${amount}.`);
      if (Number(amount) < 1)
        throw badRequest(`Requested resource ${name} requires amount >= 1. Got: ${Number(amount)}.`);
      return [name, Number(amount)];
    }),
  );
}

interface Traits {
  readonly required: readonly ReadonlySet<string>[];
  readonly forbidden: readonly string[];
}

function anyTraitsOf(call: Call, value: string): Traits {
  const form = "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC'";
  if (!since(call, 39)) throw badQuery(`${form} only supported since microversion 1.39. Got: ${value}`);
  const names = value
    .slice(3)
    .split(',')
    .map((name) => name.trim());
  if (names.includes(''))
    throw badQuery(
      `Expected 'required' parameter value of the form: in:HW_CPU_X86_VMX,CUSTOM_MAGIC. Got an empty trait in: ${value}`,
    );
  if (names.some((name) => name.startsWith('!')))
    throw badQuery(`${form} does not support forbidden traits. Got: ${value}`);
  return { required: [new Set(names)], forbidden: [] };
}

/** Parses traits: `A,!B` requires A and forbids B; `in:A,B` requires any of them. */
function traitsOf(call: Call, value: string): Traits {
  if (value.startsWith('in:')) return anyTraitsOf(call, value);
  const names = value.split(',').map((name) => name.trim());
  const forbidden = names.filter((name) => name.startsWith('!')).map((name) => name.slice(1));
  const canForbid = since(call, 22);
  const expected = `Expected 'required' parameter value of the form: HW_CPU_X86_VMX,${canForbid ? '!' : ''}CUSTOM_MAGIC.`;
  if ([...names, ...forbidden].includes('')) throw badQuery(`${expected} Got an empty trait in: ${value}`);
  if (forbidden.length > 0 && !canForbid) throw badQuery(`${expected} Got: ${value}`);
  return { required: names.filter((name) => !name.startsWith('!')).map((name) => new Set([name])), forbidden };
}

/** Parses aggregates: `id`, `in:id,id`, `!id` or `!in:id,id`. */
function aggregatesOf(value: string): { readonly ids: ReadonlySet<string>; readonly forbids: boolean } {
  const forbids = value.startsWith('!');
  const plain = forbids ? value.slice(1) : value;
  if (plain.includes(',') && !plain.startsWith('in:'))
    throw badRequest(
      `Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid microversion. Got: ${value}`,
    );
  const ids = plain.replace(/^in:/, '').split(',');
  const wrong = ids.find((id) => !UUID.test(id));
  if (wrong !== undefined) throw badQuery(`Expected 'member_of' parameter to contain valid UUID(s). Got: ${wrong}`);
  return { ids: new Set(ids), forbids };
}

/** Returns the requirements in the parameters with a suffix. */
export function requirementsOf(call: Call, suffix = ''): Requirements {
  const values = (name: string) => call.query.getAll(`${name}${suffix}`);
  const traits = (since(call, 39) ? values('required') : values('required').slice(-1)).map((text) =>
    traitsOf(call, text),
  );
  const memberOf = values('member_of').map(aggregatesOf);
  if (memberOf.length > 1 && !since(call, 24))
    throw badRequest(`Multiple member_of${suffix} parameters are not supported`);
  if (memberOf.some(({ forbids }) => forbids) && !since(call, 32))
    throw badRequest(`Forbidden member_of${suffix} parameters are not supported in the specified microversion`);
  const inTree = values('in_tree').at(-1)?.trim();
  if (inTree !== undefined && !UUID.test(inTree))
    throw badQuery(`Expected 'in_tree' parameter to be a format of uuid. Got: ${inTree}`);
  return {
    required: traits.flatMap(({ required }) => required),
    forbidden: new Set(traits.flatMap(({ forbidden }) => forbidden)),
    memberOf: memberOf.filter(({ forbids }) => !forbids).map(({ ids }) => ids),
    notMemberOf: new Set(memberOf.filter(({ forbids }) => forbids).flatMap(({ ids }) => [...ids])),
    inTree,
  };
}

/** Throws a 400 error for unknown classes and traits, and for traits that are both required and forbidden. */
export async function checkNames(call: Call, groups: readonly Group[]): Promise<void> {
  const [classes, traits] = [await classNames(call), await traitNames(call)];
  for (const { suffix, resources, required, forbidden } of groups) {
    const unknownName = [...resources.keys()].find((name) => !classes.has(name));
    if (unknownName !== undefined)
      throw badRequest(`Invalid resource class in resources parameter: ${missingClass(unknownName)}`);
    const unknown = [...required.flatMap((names) => [...names]), ...forbidden].filter((name) => !traits.has(name));
    if (unknown.length > 0) throw badRequest(`Invalid trait(s) in "required" parameter: ${missingTraits(unknown)}`);
    const both = required.find((names) => [...names].every((name) => forbidden.has(name)));
    if (both && since(call, 22))
      throw badRequest(
        `Conflicting required and forbidden traits found in the following traits keys: required${suffix}: (${[...both].sort().join(', ')})`,
      );
  }
}

/** The minor versions that introduced the query parameters for allocation candidates, except those of groups. */
const PARAMETERS: Readonly<Record<string, number>> = {
  limit: 16,
  group_policy: 25,
  root_required: 35,
  same_subtree: 36,
};
/** The first minor versions of the parameters of groups, which may have suffixes. */
const GROUPS_SINCE: Readonly<Record<string, number>> = { resources: 10, required: 17, member_of: 21, in_tree: 31 };

function suffixPattern(call: Call): string {
  if (since(call, 33)) return '([a-zA-Z0-9_-]{1,64})?';
  return since(call, 25) ? '([1-9][0-9]*)?' : '()';
}

/** Returns the suffixes of the groups, in their order. Throws a 400 error for parameters that the microversion does not support. */
function suffixesOf(call: Call): readonly string[] {
  const allowed = Object.keys(GROUPS_SINCE).filter((name) => since(call, GROUPS_SINCE[name] ?? 0));
  const patterns = allowed.map((name) => new RegExp(`^${name}${suffixPattern(call)}$`));
  const suffixes = new Set<string>();
  for (const key of call.query.keys()) {
    const pattern = patterns.find((one) => one.test(key));
    if (pattern) suffixes.add(pattern.exec(key)?.[1] ?? '');
    else if (!since(call, PARAMETERS[key] ?? Number.POSITIVE_INFINITY))
      throw badQuery(
        since(call, 25)
          ? `'${key}' does not match any of the regexes: ${patterns.map(({ source }) => `'${source}'`).join(', ')}`
          : `Additional properties are not allowed ('${key}' was unexpected)`,
      );
  }
  return [...suffixes];
}

function checkOrphans(groups: readonly Group[]): void {
  const orphans = (name: string, has: (group: Group) => boolean) => {
    const keys = groups.filter((group) => group.resources.size === 0 && has(group)).map(({ suffix }) => name + suffix);
    return keys.join(', ');
  };
  const traits = orphans('required', ({ required }) => required.length > 0);
  if (traits !== '')
    throw badRequest(
      `All traits parameters must be associated with resources.  Found the following orphaned traits keys: ${traits}`,
    );
  const aggregates = orphans('member_of', ({ memberOf, notMemberOf }) => memberOf.length + notMemberOf.size > 0);
  if (aggregates !== '')
    throw badRequest(
      `All member_of parameters must be associated with resources. Found the following orphaned member_of keys: ${aggregates}`,
    );
  if (groups.length === 0) throw badRequest('At least one request group (`resources` or `resources{$S}`) is required.');
  if (orphans('', () => true) !== '' || groups.some(({ resources }) => resources.size === 0))
    throw badRequest('All request groups must specify resources.');
}

function checkSubtrees(groups: readonly Group[], subtrees: readonly ReadonlySet<string>[]): void {
  const bare = groups.filter(({ resources }) => resources.size === 0).map(({ suffix }) => suffix);
  if (bare.length === groups.length)
    throw badRequest(
      'There must be at least one resources or resources[$S] parameter.',
      'placement.query.missing_value',
    );
  const named = new Set(subtrees.flatMap((suffixes) => [...suffixes]));
  const loose = bare.filter((suffix) => !named.has(suffix));
  const formatSuffixes = (suffixes: readonly string[]) => `[${suffixes.map((suffix) => `'${suffix}'`).join(', ')}]`;
  if (loose.length > 0)
    throw badValue(
      `Resourceless suffixed group request should be specified in \`same_subtree\` query param: bad group(s) - ${formatSuffixes(loose)}.`,
    );
  const unknown = [...named].filter((name) => !groups.some(({ suffix }) => suffix === name));
  if (unknown.length > 0)
    throw badValue(
      `Real suffixes should be specified in \`same_subtree\`: ${formatSuffixes(unknown)} not found in ${formatSuffixes(groups.map(({ suffix }) => suffix))}.`,
    );
}

/** A request for candidates. */
export interface CandidateRequest {
  readonly groups: readonly Group[];
  /** Whether groups with suffixes use different providers. */
  readonly isolates: boolean;
  readonly limit: number;
  /** Traits that the root of the tree must have, or must not have. */
  readonly root: Pick<Requirements, 'required' | 'forbidden'>;
  /** Sets of suffixes. The providers of each set must be in the subtree of one of them. */
  readonly subtrees: readonly ReadonlySet<string>[];
}

/** The highest number of candidates in a response. */
const MAX_CANDIDATES = 1000;

function subtreesOf(call: Call): readonly ReadonlySet<string>[] {
  return call.query.getAll('same_subtree').map((value) => {
    const suffixes = value.split(',').map((suffix) => suffix.trim());
    if (suffixes.includes('')) throw badValue('Empty string (unsuffixed group) can not be specified in `same_subtree`');
    return new Set(suffixes);
  });
}

function rootTraitsOf(call: Call): CandidateRequest['root'] {
  const values = call.query.getAll('root_required');
  if (values.length > 1)
    throw badRequest("Query parameter 'root_required' may be specified only once.", 'placement.query.duplicate_key');
  const { required = [], forbidden = [] } = values.length > 0 ? traitsOf(call, values[0] ?? '') : {};
  const both = required.flatMap((names) => [...names]).filter((name) => forbidden.includes(name));
  if (both.length > 0)
    throw badValue(`Conflicting required and forbidden traits found in root_required: ${both.sort().join(', ')}`);
  return { required, forbidden: new Set(forbidden) };
}

/** Parses a request for candidates. Throws a 400 error for an invalid parameter. */
export async function candidateRequestOf(call: Call): Promise<CandidateRequest> {
  const { query } = call;
  const suffixes = suffixesOf(call);
  if (!since(call, 25) && !query.has('resources')) throw badQuery("'resources' is a required property");
  const limit = query.get('limit');
  if (limit !== null && !/^[1-9][0-9]*$/.test(limit))
    throw badQuery(
      `'${limit}' does not match '^[1-9][0-9]*$'\n\nFailed validating 'pattern' in schema['properties']['limit']`,
    );
  const policy = query.get('group_policy');
  if (policy !== null && policy !== 'none' && policy !== 'isolate')
    throw badQuery(`'${policy}' is not one of ['none', 'isolate']`);
  const groups = suffixes.map((suffix): Group => {
    const written = query.getAll(`resources${suffix}`).at(-1);
    return {
      suffix,
      resources: written === undefined ? new Map() : amountsOf(written),
      ...requirementsOf(call, suffix),
    };
  });
  const subtrees = subtreesOf(call);
  if (since(call, 36)) checkSubtrees(groups, subtrees);
  else checkOrphans(groups);
  const numbered = groups.filter(({ suffix, resources }) => suffix !== '' && resources.size > 0);
  if (numbered.length > 1 && policy === null)
    throw badRequest(
      'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
      'placement.query.missing_value',
    );
  const root = rootTraitsOf(call);
  await checkNames(call, [
    ...groups,
    { suffix: '', resources: new Map(), memberOf: [], notMemberOf: new Set(), inTree: undefined, ...root },
  ]);
  return {
    groups,
    isolates: policy === 'isolate',
    limit: Math.min(limit === null ? MAX_CANDIDATES : Number(limit), MAX_CANDIDATES),
    root,
    subtrees,
  };
}
