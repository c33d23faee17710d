import { operationsOf } from '@apistrata/microversion/router';
import type { ComputeCall } from './http/call.js';
import type { RuleName } from './policy/index.js';

/** Defines an operation of the compute API. */
export const operation = operationsOf<ComputeCall, RuleName>();
