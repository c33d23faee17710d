import { operationsOf } from '@apistrata/microversion/router';
import type { ComputeCall } from './http/call.js';
import type { RuleName } from './policy/index.js';

/** Defines an operation of the compute API. A policy rule that does not exist is a compile error. */
export const operation = operationsOf<ComputeCall, RuleName>();
