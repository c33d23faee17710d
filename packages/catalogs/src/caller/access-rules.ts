import type { Caller } from './caller.js';

/** An element of a path pattern that matches one character or, if `repeats` is true, any number of characters. */
interface Step {
  readonly repeats: boolean;
  accepts(character: string): boolean;
}

const isAny = () => true;
const isInSegment = (character: string) => character !== '/';

function stepsOf(token: string): readonly Step[] {
  if (token === '**') return [{ repeats: true, accepts: isAny }];
  if (token === '*' || token.startsWith('{'))
    return [false, true].map((repeats) => ({ repeats, accepts: isInSegment }));
  return [{ repeats: false, accepts: (character) => character === token }];
}

/**
 * Returns whether a path matches a pattern. The time is at most proportional to the product of the two lengths, so that
 * a malicious pattern cannot block the process.
 */
function matches(pattern: string, path: string): boolean {
  const steps = (pattern.match(/\{[^}]*\}|\*\*|[^{}]/g) ?? []).flatMap(stepsOf);
  const reach = (positions: Set<number>, position: number) => {
    positions.add(position);
    for (let next = position; steps[next]?.repeats; ) positions.add(++next);
  };
  let current = new Set<number>();
  reach(current, 0);
  for (const character of path) {
    const following = new Set<number>();
    for (const position of current) {
      const step = steps[position];
      if (step?.accepts(character)) reach(following, step.repeats ? position : position + 1);
    }
    current = following;
  }
  return current.has(steps.length);
}

/**
 * Returns whether the access rules of the caller's application credential allow a request. Returns true if the caller
 * has no access rules, or if another service forwards the request with its own token.
 *
 * @param services the service types under which the identity service's catalog lists the requested service
 * @param paths the request path relative to the server's root and relative to the service's root; a rule may use either
 */
export function mayRequest(
  { accessRules, serviceRoles }: Pick<Caller, 'accessRules' | 'serviceRoles'>,
  services: readonly string[],
  method: string | undefined,
  paths: readonly string[],
): boolean {
  if (!accessRules || serviceRoles?.includes('service')) return true;
  return accessRules.some(
    (rule) =>
      rule.method === method && services.includes(rule.service) && paths.some((path) => matches(rule.path, path)),
  );
}
