import type { CheckReport } from '../check.js';

/** The reasons, one per line; the same whether detailed or not. */
export function plainBody(reports: readonly CheckReport[]): string {
  return reports.map((report) => report.reason).join('\n');
}
