import type { Migration } from 'kysely';
import * as initial from './0001-initial.js';
import * as retention from './0002-retention.js';
import * as questions from './0003-questions.js';

/** Every change of the tables, oldest first. A migration that was released is never edited: a new one follows it. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
  '0002-retention': retention,
  '0003-questions': questions,
};
