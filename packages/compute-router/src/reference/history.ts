import { historyFrom253 } from './history-from-2-53.js';
import { historyTo252 } from './history-to-2-52.js';

/** What each compute API microversion since 2.1 changed, and why: one paragraph of plain text per version. */
export const computeApiHistory: Readonly<Record<string, string>> = { ...historyTo252, ...historyFrom253 };
