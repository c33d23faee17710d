import type { DriverWork } from '../../drivers/driver.js';
import type { ActionEvent, ServerPatch } from '../../model/index.js';

/** What is left of an action when a server has got so far: work for its machine, the event of that, and how the server is then. */
export interface RestOfWork {
  readonly works: readonly DriverWork[];
  readonly event: string;
  readonly end: () => ServerPatch;
}

/** What work comes to that is done: how the server is then, and the steps of its history. */
export interface DoneWork {
  readonly patch: ServerPatch;
  readonly events: readonly ActionEvent[];
}
