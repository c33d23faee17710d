import type { Caller } from './caller.js';

export function isAdmin(caller: Caller): boolean {
  return caller.isAdmin === true;
}

/** Returns whether the caller may see and change a project's resources. */
export function canAccessProject(caller: Caller, projectId: string | null): boolean {
  return projectId === caller.projectId || isAdmin(caller);
}
