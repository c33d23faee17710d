import type { ReadReplica, ReadReplicas } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import type { Caller } from '../model/index.js';
import type { InterfaceRefresh } from '../servers/interfaces/interface-refresh.js';
import { projectServices } from './project-services.js';

/** What is used of an engine here. */
interface Whole {
  readonly interfaceRefresh: InterfaceRefresh;
}

/** The engine as one replica has it: what belongs to projects is read there, all else is as ever. */
function engineReadingFrom<E extends Whole>({ session }: ReadReplica, engine: E, core: Core): E {
  const store = { ...core.store, ...session };
  return { ...engine, ...projectServices({ ...core, store }, engine.interfaceRefresh) };
}

/** Finds the engine that answers those who only read: of a replica that has all they must see, or the engine itself. */
export function readingEngines<E extends Whole>(engine: E, core: Core, replicas: ReadReplicas) {
  const engines = new Map<ReadReplica, E>();
  return async ({ projectId, userId }: Pick<Caller, 'projectId' | 'userId'>): Promise<E> => {
    const replica = await replicas.of([projectId, userId]);
    core.observer.reading?.({ replica: replica?.name });
    if (!replica) return engine;
    let reading = engines.get(replica);
    if (!reading) engines.set(replica, (reading = engineReadingFrom(replica, engine, core)));
    return reading;
  };
}
