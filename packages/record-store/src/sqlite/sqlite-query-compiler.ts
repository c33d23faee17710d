import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Compiles a limit as a sum. If a limit is only a parameter, SQLite plans by its value, and parses and plans the
 * statement again for each new value, which takes longer than many queries.
 */
export class StableSqliteQueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit (');
    this.visitNode(node.limit);
    this.append(' + 0)');
  }
}
