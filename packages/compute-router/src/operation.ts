import { operationsOf } from '@apistrata/microversion/router';
import type { ComputeCall } from './http/call.js';
import type { RuleName } from './policy/index.js';

/** Defines an operation of the compute API; a rule that the policy does not have does not compile. */
export const operation = operationsOf<ComputeCall, RuleName>();
