import type { Caller } from './caller.js';

/** An element of a path pattern that matches one character or, if `repeats` is true, any number of characters. */
interface PatternElement {
  readonly repeats: boolean;
  accepts(character: string): boolean;
}

const acceptsAnyCharacter = () => true;
const isInSegment = (character: string) => character !== '/';

function parseElements(token: string): readonly PatternElement[] {
  if (token === '**') return [{ repeats: true, accepts: acceptsAnyCharacter }];
  if (token === '*' || token.startsWith('{'))
    return [false, true].map((repeats) => ({ repeats, accepts: isInSegment }));
  return [{ repeats: false, accepts: (character) => character === token }];
}

/**
 * Returns whether a path matches a pattern. The running time is at most proportional to the product of the two lengths,
 * so a malicious pattern cannot block the process.
 */
function matchesPattern(pattern: string, path: string): boolean {
  const elements = (pattern.match(/\{[^}]*\}|\*\*|[^{}]/g) ?? []).flatMap(parseElements);
  const addReachablePositions = (positions: Set<number>, position: number) => {
    positions.add(position);
    for (let next = position; elements[next]?.repeats; ) positions.add(++next);
  };
  let currentPositions = new Set<number>();
  addReachablePositions(currentPositions, 0);
  for (const character of path) {
    const nextPositions = new Set<number>();
    for (const position of currentPositions) {
      const element = elements[position];
      if (element?.accepts(character)) addReachablePositions(nextPositions, element.repeats ? position : position + 1);
    }
    currentPositions = nextPositions;
  }
  return currentPositions.has(elements.length);
}

/**
 * Returns whether the access rules of the caller's application credential allow a request. Returns true if the caller
 * has no access rules, or if another service forwards the request with its own token.
 *
 * @param services the service types under which the identity service's catalog lists the requested service
 * @param paths the request path relative to the server's root and relative to the service's root; a rule may use either
 */
export function isAllowedByAccessRules(
  { accessRules, serviceRoles }: Pick<Caller, 'accessRules' | 'serviceRoles'>,
  services: readonly string[],
  method: string | undefined,
  paths: readonly string[],
): boolean {
  if (!accessRules || serviceRoles?.includes('service')) return true;
  return accessRules.some(
    (rule) =>
      rule.method === method &&
      services.includes(rule.service) &&
      paths.some((path) => matchesPattern(rule.path, path)),
  );
}
