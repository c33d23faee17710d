import { historyFrom253 } from './history-from-2-53.js';
import { historyTo252 } from './history-to-2-52.js';

/** What each microversion of the compute API changed and why: a paragraph of plain text for each version since 2.1. */
export const computeApiHistory: Readonly<Record<string, string>> = { ...historyTo252, ...historyFrom253 };
