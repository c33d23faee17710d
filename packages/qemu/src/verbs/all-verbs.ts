import { life } from './life.js';
import type { Verbs } from './order.js';

/** All that machines can do here. */
export const verbs: Verbs = { ...life };
