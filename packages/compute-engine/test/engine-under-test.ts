import { randomUUID } from 'node:crypto';
import { createEngine } from '../src/engine/create-engine.js';
import type { Engine } from '../src/engine/engine.js';
import type { EngineOptions } from '../src/engine/engine-options.js';
import type { Context } from '../src/index.js';
import { defaultPreset } from '../src/preset/preset.js';

export const imageId = defaultPreset.images![0]!.id;

/** Returns the context of a caller; each call is a separate request. */
export function contextOf(projectId: string, options: { readonly isAdmin?: boolean } = {}): Context {
  const isAdmin = options.isAdmin ?? false;
  const roles = isAdmin ? ['admin', 'member', 'reader'] : ['member', 'reader'];
  return {
    caller: { userId: `user-of-${projectId}`, projectId, roles, isAdmin },
    requestId: `req-${randomUUID()}`,
    isAdmin,
  };
}

/** Creates an engine with the default preset, except for two hosts with 64 CPUs each. */
export function engineUnderTest(options: EngineOptions): Promise<Engine> {
  const hosts = defaultPreset.hosts!.map((host) => ({ ...host, cpuAllocationRatio: 1 }));
  return createEngine({
    preset: { ...defaultPreset, hosts },
    onError: (error) => console.error(error),
    ...options,
  });
}
