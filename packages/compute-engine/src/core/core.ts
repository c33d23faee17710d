import type { Catalogs } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import type { Clock } from '../clock/clock.js';
import type { Driver } from '../drivers/driver.js';
import type { Machines } from '../drivers/machines.js';
import type { EngineEvents } from '../events/engine-events.js';
import type { Guards } from '../jobs/guards.js';
import type { Worker } from '../jobs/worker.js';
import type { Server } from '../model/index.js';
import type { EngineObserver } from '../observation/observer.js';
import type { Infrastructure } from '../scheduler/infrastructure.js';
import type { Context } from './context.js';
import type { Settings } from './settings.js';

/** The dependencies that all parts of the engine share. */
export interface Core {
  readonly store: Store;
  readonly clock: Clock;
  readonly driver: Driver;
  /** Actions control machines only through this interface, never directly through the driver. */
  readonly machines: Machines;
  readonly catalogs: Catalogs;
  readonly worker: Worker;
  readonly guards: Guards;
  readonly infrastructure: Infrastructure;
  readonly settings: Settings;
  readonly observer: EngineObserver;
  readonly events: EngineEvents;
}

/** A server, and the context in which an operation acts on it. */
export interface ServerScope {
  readonly core: Core;
  readonly context: Context;
  readonly server: Server;
}
