import { Rejection } from '@apistrata/compute-engine';
import type { ComputeCall } from './call.js';

/**
 * Throws if the identity service does not know a project. If the service does not respond, every project is accepted.
 *
 * @throws Rejection (400) if the project does not exist
 */
export async function requireKnownProject({ projectExists }: ComputeCall, projectId: string): Promise<void> {
  if ((await projectExists?.(projectId)) === false)
    throw new Rejection('BAD_REQUEST', `Project ID ${projectId} is not a valid project.`);
}
