import type { Operation } from '../router/operation.js';

/** Returns the key of an operation, `METHOD /path action`. It does not depend on the operation's name. */
export function operationKey({ method, path, action }: Operation): string {
  return `${method} ${path}${action === undefined ? '' : ` ${action}`}`;
}

/** Returns the tag of an operation. Default: the first path segment that is not a parameter. */
export function tagOf({ tag, path }: Operation): string {
  return tag ?? path.split('/').find((part) => part !== '' && !part.startsWith('{')) ?? 'root';
}

function wordsOf(text: string): string[] {
  return text.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).filter((word) => word !== '' && word !== 'os');
}

function camelCase(words: readonly string[]): string {
  return words
    .map((word, index) => (index === 0 ? word.charAt(0).toLowerCase() : word.charAt(0).toUpperCase()) + word.slice(1))
    .join('');
}

function singularOf(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|dns)$/.test(word)) return word;
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** The verbs for a single resource and for a collection, by HTTP method. */
const VERBS = {
  GET: ['show', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'replace'],
  PATCH: ['update', 'update'],
  DELETE: ['delete', 'delete'],
} as const;

/** Returns the name of an operation: its `name`, or one derived from method, path and action (`listServerTags`, `resizeServer`). */
export function nameOf(operation: Pick<Operation, 'name' | 'method' | 'path' | 'action'>): string {
  if (operation.name !== undefined) return operation.name;
  const { method, path, action } = operation;
  const segments = path.split('/').filter((part) => part !== '');
  const isParameter = (segment: string | undefined) => segment?.startsWith('{') ?? false;
  const isOneResource = action !== undefined || method === 'POST' || isParameter(segments.at(-1));
  // The last path segment of an action, such as `/action`, is not part of the name.
  const nameSegments = action === undefined ? segments : segments.slice(0, -1);
  const nouns = nameSegments.flatMap((segment, index) => {
    if (isParameter(segment)) return [];
    const words = wordsOf(segment);
    const isSingular = isParameter(nameSegments[index + 1]) || (isOneResource && index === nameSegments.length - 1);
    return isSingular ? [...words.slice(0, -1), singularOf(words.at(-1) ?? '')] : words;
  });
  const verb = action === undefined ? [VERBS[method][isOneResource ? 0 : 1]] : wordsOf(action);
  return camelCase([...verb, ...nouns]);
}

/** Returns the OpenAPI operation name for all actions on a path, such as `actOnServer`. */
export function actionOperationName({ method, path }: Operation): string {
  return nameOf({ method, path, action: 'actOn' });
}
