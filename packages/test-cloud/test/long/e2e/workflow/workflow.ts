import type { Step } from '../step.js';
import { administer } from './administer.js';
import { bootAServer } from './boot-a-server.js';
import { cleanUp } from './clean-up.js';
import { useTheServer } from './use-the-server.js';

/** A complete workflow: every step creates the resources that the next ones need. */
export const workflow: readonly Step[] = [...bootAServer, ...useTheServer, ...administer, ...cleanUp];
