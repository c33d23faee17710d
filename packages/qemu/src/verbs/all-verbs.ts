import { interfaces } from './interfaces.js';
import { memory } from './memory.js';
import { moving } from './moving.js';
import { password } from './password.js';
import { powerVerbs } from './power.js';
import { quiescing } from './quiescing.js';
import { resizing } from './resizing.js';
import { snapshots } from './snapshots.js';
import { systems } from './systems.js';
import type { Verbs } from './verb-request.js';
import { volumes } from './volumes.js';

/** The implementations of all driver operations that QEMU machines support. */
export const verbs: Verbs = {
  ...powerVerbs,
  ...memory,
  ...systems,
  ...resizing,
  ...snapshots,
  ...quiescing,
  ...interfaces,
  ...volumes,
  ...password,
  ...moving,
};
