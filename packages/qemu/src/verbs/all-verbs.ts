import { interfaceVerbs } from './interfaces.js';
import { memoryVerbs } from './memory.js';
import { movingVerbs } from './moving.js';
import { passwordVerbs } from './password.js';
import { powerVerbs } from './power.js';
import { quiescingVerbs } from './quiescing.js';
import { resizingVerbs } from './resizing.js';
import { snapshotVerbs } from './snapshots.js';
import { systemVerbs } from './systems.js';
import type { Verbs } from './verb-request.js';
import { volumeVerbs } from './volumes.js';

/** The implementations of all driver operations that QEMU machines support. */
export const verbs: Verbs = {
  ...powerVerbs,
  ...memoryVerbs,
  ...systemVerbs,
  ...resizingVerbs,
  ...snapshotVerbs,
  ...quiescingVerbs,
  ...interfaceVerbs,
  ...volumeVerbs,
  ...passwordVerbs,
  ...movingVerbs,
};
