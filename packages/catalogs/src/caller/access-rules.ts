import type { Caller } from './caller.js';

/** One step of a pattern, which accepts one character or any number of characters. */
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

/** Returns true if a path matches a pattern. Takes time proportional to the product of their lengths, for any pattern. */
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
 * Returns whether the access rules of the caller's application credential allow a request; true if it has none.
 * Requests that another service forwards with its own token are allowed.
 *
 * @param services the types of the service in the catalog
 * @param paths the path of the request from the root of the server, and from the root of the service; rules use either
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
