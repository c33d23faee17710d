import { z } from 'zod';
import { momentOf } from '../service/filter.js';

/** A timestamp in a body, as milliseconds with a fraction: the identity service stores microseconds. */
export const Timestamp = z
  .string()
  .refine((written) => !Number.isNaN(momentOf(written)), 'is not a date')
  .transform(momentOf);
