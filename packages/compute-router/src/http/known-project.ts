import { Refusal } from '@apistrata/compute-engine';
import type { ComputeCall } from './call.js';

/** Throws the 400 for a project that the identity service says it does not know. Where nobody can say, all are known. */
export async function requireKnownProject({ projectExists }: ComputeCall, projectId: string): Promise<void> {
  if ((await projectExists?.(projectId)) === false)
    throw new Refusal('BAD_REQUEST', `Project ID ${projectId} is not a valid project.`);
}
