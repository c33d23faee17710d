import type { CheckReport } from '../check.js';
import type { ResponseExtras } from '../extras.js';

/** Returns the plain-text body: one reason per line, with check names if configured. It never contains details. */
export function plainBody(reports: readonly CheckReport[], { named }: ResponseExtras): string {
  return reports.map(({ name, reason }) => (named ? `${name}: ${reason}` : reason)).join('\n');
}
