import type { TestProject } from 'vitest/node';
import { startPostgresPair } from './postgres-pair.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a standby for `postgresUrl`; '' if suites read from one server only. */
    replicaUrl: string;
  }
}

/** Starts the servers of the suites that read from a replica. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const pair = await startPostgresPair(false);
  project.provide('postgresUrl', pair.primaryUrl);
  project.provide('replicaUrl', pair.standbyUrl);
  return () => pair.stop();
}
