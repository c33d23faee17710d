import type { Windowed } from '@apistrata/microversion';
import { operationsOf } from '@apistrata/microversion-router';
import type { ComputeCall } from './http/call.js';
import type { RuleName } from './policy/index.js';
import type { Tag } from './reference/tags.js';

/** The documentation that every operation must define. */
export interface OperationTexts {
  /** Unique name of the operation; generated clients use it as their method name. */
  readonly name: string;
  readonly tag: Tag;
  readonly description: Windowed<string>;
}

/**
 * Defines a compute API operation. An unknown policy rule, a missing name, tag or description, and a path parameter
 * without a description are compile errors.
 */
export const operation = operationsOf<ComputeCall, RuleName, OperationTexts>();
