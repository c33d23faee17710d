import type { Windowed } from '@apistrata/microversion';
import { operationsOf } from '@apistrata/microversion/router';
import type { ComputeCall } from './http/call.js';
import type { RuleName } from './policy/index.js';
import type { Tag } from './reference/tags.js';

/** The documentation that every operation has. */
export interface OperationTexts {
  /** Unique name, which generated clients use. */
  readonly name: string;
  readonly tag: Tag;
  readonly description: Windowed<string>;
}

/**
 * Defines an operation of the compute API. An unknown policy rule is a compile error, and so is a missing name, tag or
 * description, or a path parameter without a description.
 */
export const operation = operationsOf<ComputeCall, RuleName, OperationTexts>();
