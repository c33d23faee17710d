import type { CheckReport } from '../check.js';
import type { Extras } from '../extras.js';

/** Returns the reasons, one per line, with the names of their checks if configured. Detailed endpoints have the same text. */
export function plainBody(reports: readonly CheckReport[], { named }: Extras): string {
  return reports.map(({ name, reason }) => (named ? `${name}: ${reason}` : reason)).join('\n');
}
