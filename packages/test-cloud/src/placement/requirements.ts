import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import { classNames, traitNames, unknownClassMessage, unknownTraitsMessage } from './names.js';
import { isAtLeast } from './placement-version.js';
import { unknownPropertiesMessage } from './request-body.js';

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** The requirements for a provider: one trait or aggregate of each required set, and no forbidden ones. */
export interface Requirements {
  readonly required: readonly ReadonlySet<string>[];
  readonly forbidden: ReadonlySet<string>;
  readonly memberOf: readonly ReadonlySet<string>[];
  readonly notMemberOf: ReadonlySet<string>;
  /** The id of a provider that is in the same tree; undefined: any tree. */
  readonly inTree: string | undefined;
}

/** A request group of a query for allocation candidates: amounts by resource class, and requirements for providers. */
export interface Group extends Requirements {
  /** The suffix of the group's parameters; '' for the group that several providers may satisfy together. */
  readonly suffix: string;
  readonly resources: ReadonlyMap<string, number>;
}

export const badValue = (message: string) => badRequest(message, 'placement.query.bad_value');
export const badQuery = (message: string) => badRequest(`Invalid query string parameters: ${message}`);

/** Throws a 400 error for unknown query parameters. */
export function checkParameters(call: Call, knownNames: readonly string[]): void {
  const unknownNames = [...call.query.keys()].filter((key) => !knownNames.includes(key));
  if (unknownNames.length > 0) throw badQuery(unknownPropertiesMessage(unknownNames));
}

/** Parses resource amounts, such as `VCPU:2,MEMORY_MB:512`. */
export function parseAmounts(written: string): ReadonlyMap<string, number> {
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

interface ParsedTraits {
  readonly required: readonly ReadonlySet<string>[];
  readonly forbidden: readonly string[];
}

function parseAnyTraits(value: string, isSupported: boolean): ParsedTraits {
  const form = "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC'";
  if (!isSupported) throw badQuery(`${form} only supported since microversion 1.39. Got: ${value}`);
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

/** Parses required traits: `A,!B` requires A and forbids B; `in:A,B` requires A or B. */
export function parseTraits(call: Call, value: string, supportsAny = isAtLeast(call, 39)): ParsedTraits {
  if (value.startsWith('in:')) return parseAnyTraits(value, supportsAny);
  const names = value.split(',').map((name) => name.trim());
  const forbidden = names.filter((name) => name.startsWith('!')).map((name) => name.replace(/^!+/, ''));
  const canForbid = isAtLeast(call, 22);
  const expected = `Expected 'required' parameter value of the form: HW_CPU_X86_VMX,${canForbid ? '!' : ''}CUSTOM_MAGIC.`;
  if ([...names, ...forbidden].includes('')) throw badQuery(`${expected} Got an empty trait in: ${value}`);
  if (forbidden.length > 0 && !canForbid) throw badQuery(`${expected} Got: ${value}`);
  return { required: names.filter((name) => !name.startsWith('!')).map((name) => new Set([name])), forbidden };
}

/** Parses required or forbidden aggregates: `id`, `in:id,id`, `!id` or `!in:id,id`. */
function parseAggregates(value: string): { readonly ids: ReadonlySet<string>; readonly forbids: boolean } {
  const isForbidden = value.startsWith('!');
  const withoutNegation = isForbidden ? value.slice(1) : value;
  if (withoutNegation.includes(',') && !withoutNegation.startsWith('in:'))
    throw badRequest(
      `Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid microversion. Got: ${value}`,
    );
  const ids = withoutNegation.replace(/^in:/, '').split(',');
  const invalidId = ids.find((id) => !UUID.test(id));
  if (invalidId !== undefined)
    throw badQuery(`Expected 'member_of' parameter to contain valid UUID(s). Got: ${invalidId}`);
  return { ids: new Set(ids), forbids: isForbidden };
}

/** Parses the requirements in the query parameters with a suffix. */
export function parseRequirements(call: Call, suffix = ''): Requirements {
  const queryValues = (name: string) => call.query.getAll(`${name}${suffix}`);
  const traits = (isAtLeast(call, 39) ? queryValues('required') : queryValues('required').slice(-1)).map((text) =>
    parseTraits(call, text),
  );
  const memberOf = queryValues('member_of').map(parseAggregates);
  if (memberOf.length > 1 && !isAtLeast(call, 24))
    throw badRequest(`Multiple member_of${suffix} parameters are not supported`);
  if (memberOf.some(({ forbids: isForbidden }) => isForbidden) && !isAtLeast(call, 32))
    throw badRequest(`Forbidden member_of${suffix} parameters are not supported in the specified microversion`);
  const writtenTree = queryValues('in_tree').at(-1);
  const inTree = writtenTree?.trim();
  if (inTree !== undefined && !UUID.test(inTree))
    throw badQuery(`Expected 'in_tree' parameter to be a format of uuid. Got: ${writtenTree}`);
  return {
    required: traits.flatMap(({ required }) => required),
    forbidden: new Set(traits.flatMap(({ forbidden }) => forbidden)),
    memberOf: memberOf.filter(({ forbids: isForbidden }) => !isForbidden).map(({ ids }) => ids),
    notMemberOf: new Set(memberOf.filter(({ forbids: isForbidden }) => isForbidden).flatMap(({ ids }) => [...ids])),
    inTree,
  };
}

/** Throws a 400 error for an unknown resource class or trait. @param prefix the start of the message for traits */
export async function checkNames(
  call: Call,
  groups: readonly Pick<Group, 'resources' | 'required' | 'forbidden'>[],
  prefix = '',
): Promise<void> {
  const [classes, traits] = [await classNames(call), await traitNames(call)];
  for (const { resources, required, forbidden } of groups) {
    const unknownName = [...resources.keys()].find((name) => !classes.has(name));
    if (unknownName !== undefined)
      throw badRequest(`Invalid resource class in resources parameter: ${unknownClassMessage(unknownName)}`);
    const unknownTrait = [...required.flatMap((names) => [...names]), ...forbidden].find((name) => !traits.has(name));
    if (unknownTrait !== undefined) throw badRequest(prefix + unknownTraitsMessage([unknownTrait]));
  }
}
