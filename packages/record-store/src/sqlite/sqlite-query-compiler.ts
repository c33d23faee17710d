import { type LimitNode, SqliteQueryCompiler } from 'kysely';

/**
 * Writes a limit as a sum: SQLite plans by the value of a limit that is a parameter alone, and so it parses and plans the
 * statement anew each time another value is bound, which takes longer than many a question.
 */
export class StableSqliteQueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit (');
    this.visitNode(node.limit);
    this.append(' + 0)');
  }
}
