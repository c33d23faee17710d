import { catalogChanges } from '@apistrata/catalogs/builtin';
import { joinChanges, type SchemaChanges } from '@apistrata/record-store';
import * as initial from './0001-initial.js';
import * as retention from './0002-retention.js';
import * as questions from './0003-questions.js';
import * as notifications from './0004-notifications.js';
import * as hosts from './0005-hosts.js';
import * as addresses from './0006-addresses.js';
import * as periods from './0007-periods.js';
import * as namesOfProjects from './0008-names-of-projects.js';
import * as keysOfActions from './0009-keys-of-actions.js';
import * as coveredPages from './0011-covered-pages.js';
import * as attemptsOfOrders from './0013-attempts-of-orders.js';
import * as deadLetters from './0014-dead-letters.js';
import * as hostResources from './0015-host-resources.js';
import * as hostRights from './0016-host-rights.js';
import * as listsOfMigrations from './0017-lists-of-migrations.js';
import * as pendingServers from './0018-pending-servers.js';

/**
 * Every schema change, including those of the built-in catalogs, oldest first. A released migration is never edited: a
 * new migration follows it. A migration only makes additions that processes of the previous version can ignore: tables,
 * indexes, and columns that are nullable or have a default.
 */
export const migrations: SchemaChanges = joinChanges(catalogChanges, {
  '0001-initial': initial,
  '0002-retention': retention,
  '0003-questions': questions,
  '0004-notifications': notifications,
  '0005-hosts': hosts,
  '0006-addresses': addresses,
  '0007-periods': periods,
  '0008-names-of-projects': namesOfProjects,
  '0009-keys-of-actions': keysOfActions,
  '0011-covered-pages': coveredPages,
  '0013-attempts-of-orders': attemptsOfOrders,
  '0014-dead-letters': deadLetters,
  '0015-host-resources': hostResources,
  '0016-host-rights': hostRights,
  '0017-lists-of-migrations': listsOfMigrations,
  '0018-pending-servers': pendingServers,
});
