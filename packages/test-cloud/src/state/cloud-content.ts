import type { IncomingMessage } from 'node:http';
import { createEngine, type Engine, type Preset, type Settings } from '@apistrata/compute-engine';
import { type ComputeRouter, computeRouter, type Identity } from '@apistrata/compute-router';
import type { CloudClock } from '../clock/cloud-clock.js';
import type { IdentifyCaller } from '../service/cloud-context.js';
import { ReadableDriver } from './readable-driver.js';

/** The compute content of a cloud, which a reset replaces completely. */
export interface CloudContent {
  readonly engine: Engine;
  readonly driver: ReadableDriver;
  readonly compute: ComputeRouter;
}

export interface ContentOptions {
  readonly clock: CloudClock;
  readonly identifyCaller: IdentifyCaller;
  /** Returns whether a project exists in the identity service. */
  readonly projectExists: (projectId: string) => boolean;
  readonly settings: Partial<Settings> | undefined;
  readonly latencyMs: number;
  readonly transientMs: number;
  readonly maxVersion: string | undefined;
  readonly onError: (error: unknown) => void;
}

/** Creates the content of a cloud from a preset. */
export async function createContent(options: ContentOptions, preset: Preset): Promise<CloudContent> {
  const { clock, onError } = options;
  const { latencyMs, transientMs } = options;
  const driver = new ReadableDriver({ clock, rules: preset.rules, latencyMs, transientMs });
  const engine = await createEngine({
    database: ':memory:',
    clock,
    driver,
    preset,
    settings: options.settings,
    onError,
  });
  const identity: Identity = Object.assign((req: IncomingMessage) => options.identifyCaller(req, ['compute']), {
    projectExists: async (projectId: string) => options.projectExists(projectId),
  });
  const compute = computeRouter({ engine, identity, maxVersion: options.maxVersion, onError });
  return { engine, driver, compute };
}
