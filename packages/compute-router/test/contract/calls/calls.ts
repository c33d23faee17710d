import type { Prepare } from './call.js';
import { flavorCalls } from './flavor-calls.js';
import { infrastructureCalls } from './infrastructure-calls.js';
import { projectCalls } from './project-calls.js';
import { proxyCalls } from './proxy-calls.js';
import { aliasedCalls, serverCalls } from './server-calls.js';
import { serverPartCalls } from './server-part-calls.js';

/** How each operation is called, by its key. */
export const calls: Readonly<Record<string, Prepare>> = {
  ...serverCalls,
  ...aliasedCalls,
  ...serverPartCalls,
  ...flavorCalls,
  ...proxyCalls,
  ...infrastructureCalls,
  ...projectCalls,
};
