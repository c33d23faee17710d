import type { ReadReplica, ReadReplicas } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import type { Caller } from '../model/index.js';
import type { InterfaceRefresh } from '../servers/interfaces/interface-refresh.js';
import { createProjectServices } from './project-services.js';

/** The properties of an engine that this module uses. */
interface EngineParts {
  readonly interfaceRefresh: InterfaceRefresh;
}

/** Returns a copy of the engine that reads project resources from a replica. */
function createReplicaEngine<E extends EngineParts>({ session }: ReadReplica, engine: E, core: Core): E {
  const store = { ...core.store, ...session };
  return { ...engine, ...createProjectServices({ ...core, store }, engine.interfaceRefresh) };
}

/**
 * Returns a function that selects the engine for a read-only request: one that reads from a sufficiently current
 * replica, or the engine itself.
 */
export function createEngineSelector<E extends EngineParts>(engine: E, core: Core, replicas: ReadReplicas) {
  const engines = new Map<ReadReplica, E>();
  return async ({ projectId, userId }: Pick<Caller, 'projectId' | 'userId'>): Promise<E> => {
    const replica = await replicas.of([projectId, userId]);
    core.observer.reading?.({ replica: replica?.name });
    if (!replica) return engine;
    let replicaEngine = engines.get(replica);
    if (!replicaEngine) engines.set(replica, (replicaEngine = createReplicaEngine(replica, engine, core)));
    return replicaEngine;
  };
}
