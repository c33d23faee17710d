import { operationsOf } from '@apistrata/microversion/router';
import type { ComputeCall } from './http/call.js';

/** Defines an operation of the compute API. */
export const operation = operationsOf<ComputeCall>();
