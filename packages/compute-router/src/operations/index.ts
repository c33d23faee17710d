import type { Operation } from '@apistrata/microversion/router';
import { flavorOperations } from './flavors.js';
import { keypairOperations } from './keypairs.js';
import { changeServers } from './servers/change.js';
import { createServer } from './servers/create.js';
import { serverHistory } from './servers/history.js';
import { powerActions } from './servers/power-actions.js';
import { readServers } from './servers/read.js';

/** Every operation of the compute API. What it serves, documents and tests is this list. */
export const operations: readonly Operation[] = [
  ...flavorOperations,
  ...keypairOperations,
  ...readServers,
  createServer,
  ...changeServers,
  ...powerActions,
  ...serverHistory,
];
