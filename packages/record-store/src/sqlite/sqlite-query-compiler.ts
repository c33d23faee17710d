import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Compiles a limit as the sum of a parameter and 0. If a limit is only a parameter, SQLite plans the statement for the
 * parameter's value, and parses and plans it again for each new value. Parsing and planning take longer than executing
 * many queries.
 */
export class StableSqliteQueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit (');
    this.visitNode(node.limit);
    this.append(' + 0)');
  }
}
