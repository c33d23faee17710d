import type { CompiledQuery } from 'kysely';

/** Matches a statement's verb. The SQL text contains no values that could match, because values are parameters. */
const STATEMENT_VERB =
  /^\W*(?:with\b.*?\b)?(select|insert|update|delete|begin|commit|rollback|savepoint|release|create|alter|drop|pragma)\b/is;
const TABLE_STATEMENT = /^(?:select|insert|update|delete)$/;
const SCHEMA_STATEMENT = /^(?:create|alter|drop|pragma)$/;
const FIRST_TABLE = /\b(?:from|into|update|join)\s+"?([a-z_]+)"?/i;

const cachedNames = new WeakMap<object, string>();

/**
 * Returns a statement's name for metrics, such as `select servers`. Statements that differ only in their filters share
 * a name.
 */
export function statementName({ query, sql }: CompiledQuery): string {
  const cached = cachedNames.get(query);
  if (cached !== undefined) return cached;
  const verb = STATEMENT_VERB.exec(sql)?.[1]?.toLowerCase() ?? 'other';
  const table = TABLE_STATEMENT.test(verb) ? FIRST_TABLE.exec(sql)?.[1]?.toLowerCase() : undefined;
  const name = table === undefined ? (SCHEMA_STATEMENT.test(verb) ? 'schema' : verb) : `${verb} ${table}`;
  cachedNames.set(query, name);
  return name;
}
