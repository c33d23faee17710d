import { interfaceOperations } from './interfaces.js';
import { memoryOperations } from './memory.js';
import { moveOperations } from './moving.js';
import type { DriverOperations } from './operation-request.js';
import { passwordOperations } from './password.js';
import { powerOperations } from './power.js';
import { quiesceOperations } from './quiescing.js';
import { resizeOperations } from './resizing.js';
import { snapshotOperations } from './snapshots.js';
import { systemOperations } from './systems.js';
import { volumeOperations } from './volumes.js';

/** The implementations of all driver operations that QEMU machines support. */
export const operations: DriverOperations = {
  ...powerOperations,
  ...memoryOperations,
  ...systemOperations,
  ...resizeOperations,
  ...snapshotOperations,
  ...quiesceOperations,
  ...interfaceOperations,
  ...volumeOperations,
  ...passwordOperations,
  ...moveOperations,
};
