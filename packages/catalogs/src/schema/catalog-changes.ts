import type { SchemaChanges } from '@apistrata/record-store';
import * as initial from './0001-initial.js';
import * as routerHomes from './0010-router-homes.js';
import * as listsOfProjects from './0012-lists-of-projects.js';
import * as serviceDocuments from './0016-service-documents.js';
import * as networksOfProjects from './0019-networks-of-projects.js';
import * as volumeHomes from './0020-volume-homes.js';

/**
 * All schema changes for the built-in catalogs' tables, oldest first. The compute engine stores its own tables in the
 * same database and uses the same numbering, so a change that affects both has the same name in both lists. A released
 * change is never edited.
 */
export const catalogChanges: SchemaChanges = {
  '0001-initial': initial,
  '0010-router-homes': routerHomes,
  '0012-lists-of-projects': listsOfProjects,
  '0016-service-documents': serviceDocuments,
  '0019-networks-of-projects': networksOfProjects,
  '0020-volume-homes': volumeHomes,
};
