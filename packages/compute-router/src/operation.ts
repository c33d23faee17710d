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
 * Defines an operation of the compute API. A policy rule that does not exist is a compile error, and so is a missing name,
 * tag or description, of the operation or of a parameter of its path.
 */
export const operation = operationsOf<ComputeCall, RuleName, OperationTexts>();
