import { interfaces } from './interfaces.js';
import { life } from './life.js';
import { memory } from './memory.js';
import { moving } from './moving.js';
import type { Verbs } from './order.js';
import { password } from './password.js';
import { quiescing } from './quiescing.js';
import { resizing } from './resizing.js';
import { snapshots } from './snapshots.js';
import { systems } from './systems.js';
import { volumes } from './volumes.js';

/** All that machines can do here. */
export const verbs: Verbs = {
  ...life,
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
