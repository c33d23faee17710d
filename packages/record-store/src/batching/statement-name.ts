import type { CompiledQuery } from 'kysely';

/** The verb of a statement. Values are parameters, so the SQL is the program's own. */
const VERB =
  /^\W*(?:with\b.*?\b)?(select|insert|update|delete|begin|commit|rollback|savepoint|release|create|alter|drop|pragma)\b/is;
const NAMING_ONE = /^(?:select|insert|update|delete)$/;
const SCHEMA_STATEMENT = /^(?:create|alter|drop|pragma)$/;
const FIRST_TABLE = /\b(?:from|into|update|join)\s+"?([a-z_]+)"?/i;

const names = new WeakMap<object, string>();

/**
 * Returns the name of a statement for metrics: `select servers`. Statements that differ only in their filters share a
 * name.
 */
export function statementName({ query, sql }: CompiledQuery): string {
  const cached = names.get(query);
  if (cached !== undefined) return cached;
  const verb = VERB.exec(sql)?.[1]?.toLowerCase() ?? 'other';
  const table = NAMING_ONE.test(verb) ? FIRST_TABLE.exec(sql)?.[1]?.toLowerCase() : undefined;
  const name = table === undefined ? (SCHEMA_STATEMENT.test(verb) ? 'schema' : verb) : `${verb} ${table}`;
  names.set(query, name);
  return name;
}
